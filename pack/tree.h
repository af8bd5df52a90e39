/* tree.h - what lies beneath a directory, as a list; reads names and attributes, never
 * contents. A tree is filled on one thread and then only read.
 */
#ifndef PACK_TREE_H
#define PACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define TREE_NO_LINK ((size_t)-1)

struct tree_entry {
    char *path;        /* below the root; "" is the root */
    char *link_target; /* of a symbolic link, else NULL */
    char *output_path; /* where the command puts it; NULL: nowhere (made by the command) */
    struct stat st;
    size_t first_link; /* the entry that is the same file (hard link), or TREE_NO_LINK */
    bool failed;       /* the command could not do its work on it */
};

struct tree {
    int root_fd;                /* owned */
    struct tree_entry *entries; /* directories before what they contain, names in order of bytes */
    size_t count;
    size_t capacity;
    struct tree_entry **by_path; /* sorted by path */
};

#define TREE_NONE                                                                                  \
    {                                                                                              \
        .root_fd = -1                                                                              \
    }

struct tree_options {
    /* NULL, or: leave that path out (a directory with all that it contains). */
    bool (*skip)(const void *context, const char *path, const struct stat *st);
    /* Something that could not be read; the scan goes on without it. */
    void (*failed)(void *context, const char *path, int error);
    void *context;
};

/* Everything beneath root_fd, which the tree takes. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int tree_scan(int root_fd, const struct tree_options *options,
                                                  struct tree *ret);

/* A tree of one entry: name in root_fd, which the tree takes. Returns 0 or -errno. */
__attribute__((warn_unused_result)) int tree_single(int root_fd, const char *name,
                                                    struct tree *ret);

/* The entry of that path, or NULL. */
const struct tree_entry *tree_find(const struct tree *tree, const char *path);

void tree_fini(struct tree *tree);

#endif
