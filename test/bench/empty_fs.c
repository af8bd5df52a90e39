/* empty_fs.c - a FUSE file system that does nothing: the ceiling of the benchmarks.
 *
 *   empty_fs BYTES MOUNTPOINT        one file "f" of that size, answered from memory
 *
 * Runs in the foreground until it is unmounted or gets SIGTERM. What a reader gets
 * from it is what any FUSE file system on this machine can reach at most; the mount
 * under test is compared with it in the same run.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8 << 20, WORKERS = 4, BACKGROUND = 64, FILE_INODE = 2 };

static const double forever = 1e9; /* seconds; nothing here ever changes */
static size_t file_size;
static char *window; /* two windows long, since a read may begin near the end of one */

static void fill_stat(fuse_ino_t ino, struct stat *st)
{
    memset(st, 0, sizeof *st);
    st->st_ino = ino;
    st->st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0444;
    st->st_nlink = ino == FUSE_ROOT_ID ? 2 : 1;
    st->st_size = ino == FUSE_ROOT_ID ? 0 : (off_t)file_size;
}

static void empty_init(void *user, struct fuse_conn_info *conn)
{
    (void)user;
    conn->max_background = BACKGROUND;
    conn->congestion_threshold = BACKGROUND;
    conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE | FUSE_CAP_SPLICE_READ |
                              FUSE_CAP_AUTO_INVAL_DATA);
}

static void empty_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry = {
        .ino = FILE_INODE, .attr_timeout = forever, .entry_timeout = forever};
    if (parent != FUSE_ROOT_ID || strcmp(name, "f") != 0) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    fill_stat(FILE_INODE, &entry.attr);
    fuse_reply_entry(req, &entry);
}

static void empty_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st;
    (void)fi;
    fill_stat(ino, &st);
    fuse_reply_attr(req, &st, forever);
}

static void empty_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    fi->keep_cache = 1;
    fuse_reply_open(req, fi);
}

static void empty_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                       struct fuse_file_info *fi)
{
    (void)ino;
    (void)fi;
    size_t left = (size_t)offset < file_size ? file_size - (size_t)offset : 0;
    fuse_reply_buf(req, window + offset % WINDOW, size < left ? size : left);
}

static const struct fuse_lowlevel_ops empty_ops = {.init = empty_init,
                                                   .lookup = empty_lookup,
                                                   .getattr = empty_getattr,
                                                   .open = empty_open,
                                                   .read = empty_read};

static int serve(struct fuse_session *session, const char *mountpoint)
{
    if (fuse_set_signal_handlers(session) != 0)
        return 1;
    if (fuse_session_mount(session, mountpoint) != 0)
        return 1;
    struct fuse_loop_config *loop = fuse_loop_cfg_create();
    fuse_loop_cfg_set_clone_fd(loop, 1);
    fuse_loop_cfg_set_max_threads(loop, WORKERS);
    int rc = fuse_session_loop_mt(session, loop);
    fuse_loop_cfg_destroy(loop);
    fuse_session_unmount(session);
    return rc < 0;
}

int main(int argc, char **argv)
{
    char name_option[] = "-ofsname=empty_fs";
    char *args_v[] = {argv[0], name_option, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(2, args_v);
    if (argc != 3 || (file_size = strtoull(argv[1], NULL, 10)) == 0) {
        fprintf(stderr, "usage: empty_fs BYTES MOUNTPOINT\n");
        return 2;
    }
    window = aligned_alloc(4096, 2 * (size_t)WINDOW);
    if (!window)
        return 1;
    memset(window, 1, 2 * (size_t)WINDOW);
    struct fuse_session *session = fuse_session_new(&args, &empty_ops, sizeof empty_ops, NULL);
    if (!session)
        return 1;
    int rc = serve(session, argv[2]);
    fuse_session_destroy(session);
    free(window);
    return rc;
}
