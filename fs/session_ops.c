/* session_ops.c - the operations that the kernel asks for. Attributes and names come from
 * tree.h, files from file_set.h; a read goes to the pipeline and is answered from there. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "log.h"
#include "metrics.h"
#include "session_private.h"

/* fi->fh of an open file is its packed_file, which the file set keeps until the release; of
 * the metrics, this: what they were when opened. */
struct snapshot {
    char *text;
    size_t size;
};

static struct session *session_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static struct inode *inode_of(struct session *session, fuse_ino_t number)
{
    return number == FUSE_ROOT_ID ? tree_root(session->tree) : (struct inode *)(uintptr_t)number;
}

static void op_init(void *context, struct fuse_conn_info *conn)
{
    struct session *session = context;
    uint64_t one = 1;
    ssize_t n;

    conn->max_background = conn->congestion_threshold = session->max_background;
    conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                              FUSE_CAP_AUTO_INVAL_DATA);
    conn->want |= conn->capable &
                  (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS |
                   FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS);
    /* The reply follows at once, on this thread; whoever waits for it uses the mount, and so
     * waits for the reply too. */
    n = write(session->ready_fd, &one, sizeof(one));
    (void)n;
}

static void fill_entry(struct session *session, struct inode *inode, struct fuse_entry_param *entry)
{
    *entry = (struct fuse_entry_param){.ino = (uintptr_t)inode,
                                       .attr = inode->shown,
                                       .attr_timeout = session->attr_timeout,
                                       .entry_timeout = session->entry_timeout};
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct session *session = session_of(req);
    struct fuse_entry_param entry;
    struct inode *inode;
    int r;

    metrics_count_op(METRICS_OP_LOOKUP);
    r = tree_lookup(session->tree, inode_of(session, parent), -1, name, &inode);
    if (r < 0) {
        fuse_reply_err(req, -r);
        return;
    }
    fill_entry(session, inode, &entry);
    if (inode->kind == INODE_DIRECTORY && tree_stat(session->tree, inode, &entry.attr) < 0)
        entry.attr = inode->shown;
    if (fuse_reply_entry(req, &entry) < 0)
        tree_forget(session->tree, inode, 1); /* the kernel did not take it */
}

static void forget_one(struct session *session, fuse_ino_t number, uint64_t count)
{
    if (number != FUSE_ROOT_ID)
        tree_forget(session->tree, inode_of(session, number), count);
}

static void op_forget(fuse_req_t req, fuse_ino_t number, uint64_t count)
{
    forget_one(session_of(req), number, count);
    fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
    for (size_t i = 0; i < count; i++)
        forget_one(session_of(req), forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct session *session = session_of(req);
    struct stat st;
    int r;

    metrics_count_op(METRICS_OP_GETATTR);
    r = tree_stat(session->tree, inode_of(session, number), &st);
    if (r < 0)
        fuse_reply_err(req, -r);
    else
        fuse_reply_attr(req, &st, session->attr_timeout);
}

static void op_readlink(fuse_req_t req, fuse_ino_t number)
{
    struct session *session = session_of(req);
    char target[PATH_MAX + 1];
    ssize_t n;

    metrics_count_op(METRICS_OP_READLINK);
    n = tree_readlink(session->tree, inode_of(session, number), target, sizeof(target) - 1);
    if (n < 0) {
        fuse_reply_err(req, (int)-n);
        return;
    }
    target[n] = '\0';
    fuse_reply_readlink(req, target);
}

static int open_metrics(uint64_t *ret_handle)
{
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

    if (!snapshot)
        return -ENOMEM;
    snapshot->text = metrics_text(&snapshot->size);
    if (!snapshot->text) {
        free(snapshot);
        return -ENOMEM;
    }
    *ret_handle = (uintptr_t)snapshot;
    return 0;
}

static int open_handle(struct session *session, struct inode *inode, uint64_t *ret_handle)
{
    struct packed_file *file;
    int r;

    if (inode->kind == INODE_METRICS)
        return open_metrics(ret_handle);
    r = file_set_open(session->files, inode, &file);
    if (r == 0)
        *ret_handle = (uintptr_t)file;
    return r;
}

static void close_handle(struct session *session, struct inode *inode, uint64_t handle)
{
    if (inode->kind == INODE_METRICS) {
        struct snapshot *snapshot = (struct snapshot *)(uintptr_t)handle;
        free(snapshot->text);
        free(snapshot);
    } else {
        file_set_close(session->files, inode);
    }
}

static void op_open(fuse_req_t req, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct session *session = session_of(req);
    struct inode *inode = inode_of(session, number);
    int r;

    metrics_count_op(METRICS_OP_OPEN);
    if ((fi->flags & O_ACCMODE) != O_RDONLY || (fi->flags & O_TRUNC)) {
        fuse_reply_err(req, EROFS);
        return;
    }
    r = open_handle(session, inode, &fi->fh);
    if (r < 0) {
        fuse_reply_err(req, -r);
        return;
    }
    fi->keep_cache = inode->kind != INODE_METRICS; /* an inode's bytes never change */
    fi->direct_io = inode->kind == INODE_METRICS;  /* its size is not known beforehand */
    fi->noflush = 1;
    if (fuse_reply_open(req, fi) < 0)
        close_handle(session, inode, fi->fh);
}

static void op_release(fuse_req_t req, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct session *session = session_of(req);

    metrics_count_op(METRICS_OP_RELEASE);
    close_handle(session, inode_of(session, number), fi->fh);
    fuse_reply_err(req, 0);
}

/* From a copy: as soon as the reply is out its reader may close the file, and another worker
 * then frees the snapshot, though this call has not returned yet. */
static void reply_metrics(fuse_req_t req, const struct snapshot *snapshot, size_t size,
                          uint64_t offset)
{
    size_t begin = offset < snapshot->size ? (size_t)offset : snapshot->size;
    size_t left = snapshot->size - begin;
    size_t count = size < left ? size : left;
    char *copy = malloc(count + 1);

    if (!copy) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    memcpy(copy, snapshot->text + begin, count);
    fuse_reply_buf(req, copy, count);
    free(copy);
}

static void op_read(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset,
                    struct fuse_file_info *fi)
{
    if (inode_of(session_of(req), number)->kind == INODE_METRICS) {
        reply_metrics(req, (const struct snapshot *)(uintptr_t)fi->fh, size, (uint64_t)offset);
        return;
    }
    metrics_count_op(METRICS_OP_READ);
    pipeline_read(session_worker(), (struct packed_file *)(uintptr_t)fi->fh, (uint64_t)offset,
                  (uint32_t)size, fi->flags & O_DIRECT, req, session_channel());
}

static void op_opendir(fuse_req_t req, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct session *session = session_of(req);
    struct directory *directory;
    int r = directory_open(session->tree, inode_of(session, number), &directory);

    metrics_count_op(METRICS_OP_READDIR);
    if (r < 0) {
        fuse_reply_err(req, -r);
        return;
    }
    fi->fh = (uintptr_t)directory;
    if (fuse_reply_open(req, fi) < 0)
        directory_close(directory);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t number, struct fuse_file_info *fi)
{
    directory_close((struct directory *)(uintptr_t)fi->fh);
    fuse_reply_err(req, 0);
}

/* One entry of a plain listing. Returns its size, more than room if it does not fit. */
static size_t add_plain(fuse_req_t req, char *buffer, size_t room,
                        const struct directory_entry *entry, off_t next)
{
    struct stat st = {.st_ino = entry->ino, .st_mode = entry->type};
    return fuse_add_direntry(req, buffer, room, entry->name, &st, next);
}

/* The same with attributes: also a lookup, which the kernel forgets later, but not for "." and
 * ".." and not for what can't be looked up; that is listed all the same. */
static size_t add_plus(fuse_req_t req, char *buffer, size_t room, struct inode *parent,
                       const struct directory *directory, const struct directory_entry *entry,
                       off_t next)
{
    struct session *session = session_of(req);
    struct fuse_entry_param param = {.attr = {.st_ino = entry->ino, .st_mode = entry->type}};
    struct inode *inode = NULL;
    bool is_dot = !strcmp(entry->name, ".") || !strcmp(entry->name, "..");
    size_t size = fuse_add_direntry_plus(req, NULL, 0, entry->name, &param, next);

    if (size > room)
        return size;
    if (!is_dot &&
        tree_lookup(session->tree, parent, directory_fd(directory), entry->name, &inode) == 0) {
        fill_entry(session, inode, &param);
        param.attr.st_ino = inode->shown.st_ino;
        if (inode->kind == INODE_DIRECTORY)
            (void)!tree_stat(session->tree, inode, &param.attr);
    }
    return fuse_add_direntry_plus(req, buffer, room, entry->name, &param, next);
}

static void reply_listing(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset,
                          struct fuse_file_info *fi, bool plus)
{
    const struct directory *directory = (const struct directory *)(uintptr_t)fi->fh;
    struct inode *parent = inode_of(session_of(req), number);
    char *buffer = malloc(size);
    size_t used = 0;

    metrics_count_op(METRICS_OP_READDIR);
    if (!buffer) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    for (size_t i = (size_t)offset; i < directory_count(directory); i++) {
        struct directory_entry entry;
        size_t n;
        directory_get(directory, i, &entry);
        n = plus ? add_plus(req, buffer + used, size - used, parent, directory, &entry,
                            (off_t)(i + 1))
                 : add_plain(req, buffer + used, size - used, &entry, (off_t)(i + 1));
        if (n > size - used)
            break;
        used += n;
    }
    fuse_reply_buf(req, buffer, used);
    free(buffer);
}

static void op_readdir(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset,
                       struct fuse_file_info *fi)
{
    reply_listing(req, number, size, offset, fi, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset,
                           struct fuse_file_info *fi)
{
    reply_listing(req, number, size, offset, fi, true);
}

static void op_statfs(fuse_req_t req, fuse_ino_t number)
{
    struct statvfs st;
    int r;

    metrics_count_op(METRICS_OP_STATFS);
    r = tree_statfs(session_of(req)->tree, &st);
    if (r < 0)
        fuse_reply_err(req, -r);
    else
        fuse_reply_statfs(req, &st);
}

const struct fuse_lowlevel_ops session_ops = {
    .init = op_init,
    .lookup = op_lookup,
    .forget = op_forget,
    .forget_multi = op_forget_multi,
    .getattr = op_getattr,
    .readlink = op_readlink,
    .open = op_open,
    .read = op_read,
    .release = op_release,
    .opendir = op_opendir,
    .readdir = op_readdir,
    .readdirplus = op_readdirplus,
    .releasedir = op_releasedir,
    .statfs = op_statfs,
};
