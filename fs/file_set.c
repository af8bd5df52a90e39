#include "file_set.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"

enum { KEPT_MAX = 64 };

struct file_set {
    struct pipeline *pipeline;
    struct tree *tree;
    size_t frames_full; /* budget of frames while indexes are within their allowance */
    size_t frames_min;
    size_t index_allowance;
    pthread_mutex_t lock;
    size_t index_total;             /* bytes */
    struct inode *kept, *kept_last; /* without handles, the one closed first in front */
    unsigned kept_count;
};

static void kept_remove(struct file_set *set, struct inode *inode)
{
    if (inode->kept_prev)
        inode->kept_prev->kept_next = inode->kept_next;
    else
        set->kept = inode->kept_next;
    if (inode->kept_next)
        inode->kept_next->kept_prev = inode->kept_prev;
    else
        set->kept_last = inode->kept_prev;
    inode->kept_next = inode->kept_prev = NULL;
    set->kept_count--;
}

static void kept_append(struct file_set *set, struct inode *inode)
{
    inode->kept_prev = set->kept_last;
    inode->kept_next = NULL;
    if (set->kept_last)
        set->kept_last->kept_next = inode;
    else
        set->kept = inode;
    set->kept_last = inode;
    set->kept_count++;
}

/* Let the frames have what indexes leave. (locked) */
static bool share_memory(struct file_set *set, size_t index_total)
{
    struct frame_table *table = set->pipeline->table;
    size_t excess = index_total > set->index_allowance ? index_total - set->index_allowance : 0;
    bool ok;

    if (excess > set->frames_full - set->frames_min)
        return false;
    frame_table_lock(table);
    ok = frame_table_set_budget(table, set->frames_full - excess);
    frame_table_unlock(table);
    return ok;
}

/* Close a kept file. (locked) */
static void discard(struct file_set *set, struct inode *inode)
{
    struct packed_file *file = inode->file;

    kept_remove(set, inode);
    inode->file = NULL;
    set->index_total -= file->index_memory;
    pipeline_drop_file(set->pipeline, file);
    packed_file_put(file);
    (void)share_memory(set, set->index_total); /* more for frames: cannot fail */
}

static int load(struct file_set *set, struct inode *inode, struct packed_file **ret)
{
    char path[PATH_MAX];
    int fd = tree_open_file(set->tree, inode, path, sizeof(path));

    if (fd < 0)
        return fd;
    return inode->kind == INODE_PACKED ? packed_file_open(fd, path, ret)
                                       : packed_file_open_verbatim(fd, path, ret);
}

/* Make a loaded file the inode's, unless another thread was faster. (locked) */
static int install(struct file_set *set, struct inode *inode, struct packed_file *file)
{
    size_t total = set->index_total + file->index_memory;

    while (!share_memory(set, total)) {
        if (!set->kept)
            return -ENOMEM;
        total -= set->kept->file->index_memory;
        discard(set, set->kept);
    }
    set->index_total = total;
    inode->file = file;
    return 0;
}

int file_set_open(struct file_set *set, struct inode *inode, struct packed_file **ret)
{
    struct packed_file *loaded = NULL;
    int r = 0;

    pthread_mutex_lock(&set->lock);
    if (!inode->file) {
        pthread_mutex_unlock(&set->lock);
        r = load(set, inode, &loaded);
        if (r < 0)
            return r;
        pthread_mutex_lock(&set->lock);
    }
    if (!inode->file && loaded) {
        r = install(set, inode, loaded);
        if (r == 0)
            loaded = NULL;
        else
            log_error("%s: its index of %zu bytes does not fit beside the frames in use: mount "
                      "with a larger memory=",
                      loaded->name, loaded->index_memory);
    } else if (inode->file && inode->handles == 0) {
        kept_remove(set, inode);
    }
    if (r == 0) {
        inode->handles++;
        *ret = inode->file;
    }
    pthread_mutex_unlock(&set->lock);
    packed_file_put(loaded);
    return r;
}

void file_set_close(struct file_set *set, struct inode *inode)
{
    pthread_mutex_lock(&set->lock);
    assert(inode->handles);
    if (--inode->handles == 0) {
        kept_append(set, inode);
        if (set->kept_count > KEPT_MAX)
            discard(set, set->kept);
    }
    pthread_mutex_unlock(&set->lock);
}

void file_set_gone(void *context, struct inode *inode)
{
    struct file_set *set = context;

    pthread_mutex_lock(&set->lock);
    if (inode->file)
        discard(set, inode);
    pthread_mutex_unlock(&set->lock);
}

void file_set_use_tree(struct file_set *set, struct tree *tree)
{
    set->tree = tree;
}

int file_set_new(struct pipeline *pipeline, size_t index_allowance, size_t frames_min,
                 struct file_set **ret)
{
    struct file_set *set = calloc(1, sizeof(*set));

    if (!set)
        return -ENOMEM;
    set->pipeline = pipeline;
    set->frames_full = frame_table_budget(pipeline->table);
    set->frames_min = frames_min < set->frames_full ? frames_min : set->frames_full;
    set->index_allowance = index_allowance;
    pthread_mutex_init(&set->lock, NULL);
    *ret = set;
    return 0;
}

void file_set_free(struct file_set *set)
{
    if (!set)
        return;
    while (set->kept)
        discard(set, set->kept);
    pthread_mutex_destroy(&set->lock);
    free(set);
}
