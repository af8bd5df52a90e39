/* inode.h - the inodes that the kernel knows of, and their lookup counts.
 *
 * A file's inode stands for one state of one backing file: (device, number, size,
 * modification and change time). When the backing file is replaced or written to, the next
 * lookup makes another inode, so the pages of old and new content never mix. An inode
 * knows its parent and its backing name, by which it is opened, and holds its parent.
 * Thread-safe; the table has one lock, a leaf.
 */
#ifndef TRUNKFS_INODE_H
#define TRUNKFS_INODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct packed_file;

enum inode_kind {
    INODE_DIRECTORY,
    INODE_PACKED,   /* a packed file, shown as its original */
    INODE_VERBATIM, /* a regular file, shown as it is */
    INODE_SYMLINK,
    INODE_STATS_DIRECTORY, /* .trunkfs */
    INODE_METRICS,         /* .trunkfs/metrics */
};

/* Constant once made, except where noted. */
struct inode {
    enum inode_kind kind;
    struct stat backing;  /* as it was at lookup: identity, and for verbatim files all the rest */
    struct stat shown;    /* what stat(2) through the mount says */
    struct inode *parent; /* NULL for the root; table lock */
    char *name;           /* in the parent's backing directory; table lock */
    uint64_t lookups;     /* table lock */
    uint64_t children;    /* inodes whose parent this is; table lock */
    struct inode *hash_next;             /* table lock */
    struct packed_file *file;            /* open or kept for the next open; file_set.h's lock */
    unsigned handles;                    /* file_set.h's lock */
    struct inode *kept_next, *kept_prev; /* file_set.h's lock */
};

struct inode_table;

/* Called, without the lock, for a file's inode that goes away. */
typedef void inode_gone(void *context, struct inode *inode);

/* Makes the root from its stat. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int inode_table_new(const struct stat *root, inode_gone *gone,
                                                        void *context, struct inode_table **ret);
void inode_table_free(struct inode_table *table); /* NULL is allowed */

struct inode *inode_table_root(struct inode_table *table);

/* The inode of that state of a backing object, found or made, with its lookup count raised by
 * one; its parent and name become the ones given. NULL: no memory. */
struct inode *inode_table_get(struct inode_table *table, struct inode *parent, const char *name,
                              enum inode_kind kind, const struct stat *backing,
                              const struct stat *shown);

/* The kernel forgets count lookups. inode may be gone afterwards. */
void inode_table_forget(struct inode_table *table, struct inode *inode, uint64_t count);

/* The path of inode from the root, "." for the root itself, and its length, or with
 * -ENAMETOOLONG nothing. If ret_name is not NULL, the path is that of its parent and the last
 * component goes to ret_name (NAME_MAX + 1 bytes). */
__attribute__((warn_unused_result)) int inode_table_path(struct inode_table *table,
                                                         const struct inode *inode, char *ret_path,
                                                         size_t path_room, char *ret_name);

/* Do both describe the same state of the same object? */
bool inode_same_state(const struct stat *a, const struct stat *b);

#endif
