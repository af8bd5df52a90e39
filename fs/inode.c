#include "inode.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 1024 };

struct inode_table {
    pthread_mutex_t lock;
    struct inode root;
    struct inode **buckets;
    size_t bucket_mask;
    size_t count;
    inode_gone *gone;
    void *context;
};

static bool same_object(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool inode_same_state(const struct stat *a, const struct stat *b)
{
    return same_object(a, b) && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Directories and links stay the same inode while they change. */
static bool has_states(enum inode_kind kind)
{
    return kind == INODE_PACKED || kind == INODE_VERBATIM;
}

static bool matches(const struct inode *inode, enum inode_kind kind, const struct stat *backing)
{
    if (inode->kind != kind)
        return false;
    return has_states(kind) ? inode_same_state(&inode->backing, backing)
                            : same_object(&inode->backing, backing);
}

static struct inode **bucket_of(struct inode_table *table, const struct stat *backing)
{
    uint64_t key = (uint64_t)backing->st_ino * UINT64_C(0x9E3779B97F4A7C15) + backing->st_dev;
    return &table->buckets[(key ^ key >> 32) & table->bucket_mask];
}

/* Twice as many buckets; without memory the chains only get longer. */
static void grow(struct inode_table *table)
{
    size_t old_count = table->bucket_mask + 1;
    struct inode **old = table->buckets;
    struct inode **buckets = calloc(2 * old_count, sizeof(*buckets));

    if (!buckets)
        return;
    table->buckets = buckets;
    table->bucket_mask = 2 * old_count - 1;
    for (size_t i = 0; i < old_count; i++) {
        struct inode *inode = old[i];
        while (inode) {
            struct inode *next = inode->hash_next;
            struct inode **bucket = bucket_of(table, &inode->backing);
            inode->hash_next = *bucket;
            *bucket = inode;
            inode = next;
        }
    }
    free(old);
}

static struct inode *inode_new(enum inode_kind kind, const struct stat *backing,
                               const struct stat *shown)
{
    struct inode *inode = calloc(1, sizeof(*inode));

    if (!inode)
        return NULL;
    inode->kind = kind;
    inode->backing = *backing;
    inode->shown = *shown;
    return inode;
}

/* Take an inode without lookups and children out of the table, and then perhaps its parent:
 * all that go are chained by hash_next. (locked) */
static struct inode *unlink_unused(struct inode_table *table, struct inode *inode)
{
    struct inode *dead = NULL;

    while (inode && inode != &table->root && !inode->lookups && !inode->children) {
        struct inode *parent = inode->parent;
        struct inode **link = bucket_of(table, &inode->backing);
        while (*link != inode)
            link = &(*link)->hash_next;
        *link = inode->hash_next;
        inode->hash_next = dead;
        dead = inode;
        table->count--;
        if (parent)
            parent->children--;
        inode = parent;
    }
    return dead;
}

static void free_dead(struct inode_table *table, struct inode *dead)
{
    while (dead) {
        struct inode *next = dead->hash_next;
        if (has_states(dead->kind))
            table->gone(table->context, dead);
        free(dead->name);
        free(dead);
        dead = next;
    }
}

struct inode *inode_table_root(struct inode_table *table)
{
    return &table->root;
}

struct inode *inode_table_get(struct inode_table *table, struct inode *parent, const char *name,
                              enum inode_kind kind, const struct stat *backing,
                              const struct stat *shown)
{
    char *name_copy = strdup(name);
    struct inode *dead = NULL;
    struct inode *inode;

    if (!name_copy)
        return NULL;
    pthread_mutex_lock(&table->lock);
    for (inode = *bucket_of(table, backing); inode; inode = inode->hash_next) {
        if (matches(inode, kind, backing))
            break;
    }
    if (!inode && (inode = inode_new(kind, backing, shown))) {
        struct inode **bucket = bucket_of(table, backing);
        inode->hash_next = *bucket;
        *bucket = inode;
        if (++table->count > table->bucket_mask)
            grow(table);
    }
    if (inode) {
        /* The latest name is the one most likely still to be there. */
        struct inode *old_parent = inode->parent;
        char *old_name = inode->name;
        inode->lookups++;
        inode->parent = parent;
        inode->name = name_copy;
        parent->children++;
        name_copy = old_name;
        if (old_parent) {
            old_parent->children--;
            dead = unlink_unused(table, old_parent);
        }
    }
    pthread_mutex_unlock(&table->lock);
    free(name_copy);
    free_dead(table, dead);
    return inode;
}

void inode_table_forget(struct inode_table *table, struct inode *inode, uint64_t count)
{
    struct inode *dead;

    pthread_mutex_lock(&table->lock);
    inode->lookups -= count < inode->lookups ? count : inode->lookups;
    dead = unlink_unused(table, inode);
    pthread_mutex_unlock(&table->lock);
    free_dead(table, dead);
}

int inode_table_path(struct inode_table *table, const struct inode *inode, char *ret_path,
                     size_t path_room, char *ret_name)
{
    size_t begin = path_room - 1;
    int r = 0;

    pthread_mutex_lock(&table->lock);
    ret_path[begin] = '\0';
    if (ret_name) {
        assert(inode->parent && strlen(inode->name) <= NAME_MAX);
        memcpy(ret_name, inode->name, strlen(inode->name) + 1);
        inode = inode->parent;
    }
    for (; inode->parent; inode = inode->parent) {
        size_t length = strlen(inode->name);
        bool separator = ret_path[begin] != '\0';
        if (length + separator > begin) {
            r = -ENAMETOOLONG;
            break;
        }
        if (separator)
            ret_path[--begin] = '/';
        begin -= length;
        memcpy(ret_path + begin, inode->name, length);
    }
    pthread_mutex_unlock(&table->lock);
    if (r == 0 && ret_path[begin] == '\0')
        memcpy(ret_path, ".", 2);
    else if (r == 0)
        memmove(ret_path, ret_path + begin, path_room - begin);
    return r;
}

int inode_table_new(const struct stat *root, inode_gone *gone, void *context,
                    struct inode_table **ret)
{
    struct inode_table *table = calloc(1, sizeof(*table));

    if (!table)
        return -ENOMEM;
    table->buckets = calloc(BUCKETS_MIN, sizeof(*table->buckets));
    if (!table->buckets) {
        free(table);
        return -ENOMEM;
    }
    table->bucket_mask = BUCKETS_MIN - 1;
    table->gone = gone;
    table->context = context;
    table->root = (struct inode){.kind = INODE_DIRECTORY, .backing = *root, .shown = *root};
    pthread_mutex_init(&table->lock, NULL);
    *ret = table;
    return 0;
}

void inode_table_free(struct inode_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i <= table->bucket_mask; i++) {
        struct inode *inode = table->buckets[i];
        table->buckets[i] = NULL;
        free_dead(table, inode);
    }
    pthread_mutex_destroy(&table->lock);
    free(table->buckets);
    free(table);
}
