/* tree.c - breadth first, so that no recursion is needed. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"

void tree_fini(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->entries[i].path);
        free(tree->entries[i].link_target);
        free(tree->entries[i].output_path);
    }
    free(tree->entries);
    free(tree->by_path);
    if (tree->root_fd >= 0)
        close(tree->root_fd);
    *tree = (struct tree)TREE_NONE;
}

/* Takes path, also on failure. */
static struct tree_entry *add_entry(struct tree *tree, char *path)
{
    if (path && tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? 2 * tree->capacity : 64;
        struct tree_entry *grown = reallocarray(tree->entries, capacity, sizeof(*grown));
        if (grown) {
            tree->entries = grown;
            tree->capacity = capacity;
        }
    }
    if (!path || tree->count == tree->capacity) {
        free(path);
        return NULL;
    }
    struct tree_entry *entry = &tree->entries[tree->count++];
    *entry = (struct tree_entry){.path = path, .first_link = TREE_NO_LINK};
    return entry;
}

static int read_link(int directory_fd, const char *name, struct tree_entry *entry)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(directory_fd, name, target, sizeof(target));

    if (length < 0)
        return -errno;
    if (length == sizeof(target))
        return -ENAMETOOLONG;
    entry->link_target = strndup(target, (size_t)length);
    return entry->link_target ? 0 : -ENOMEM;
}

static char *join(const char *directory, const char *name)
{
    char *path;

    if (!*directory)
        return strdup(name);
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static int add_child(struct tree *tree, const struct tree_options *options, int directory_fd,
                     size_t directory, const char *name)
{
    autofree char *path = join(tree->entries[directory].path, name);
    struct stat st;

    if (!path)
        return -ENOMEM;
    if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        options->failed(options->context, path, -errno);
        return 0;
    }
    if (options->skip && options->skip(options->context, path, &st))
        return 0;
    struct tree_entry *entry = add_entry(tree, strdup(path));
    if (!entry)
        return -ENOMEM;
    entry->st = st;
    if (S_ISLNK(st.st_mode)) {
        int r = read_link(directory_fd, name, entry);
        if (r == -ENOMEM)
            return r;
        if (r < 0) {
            options->failed(options->context, path, r);
            free(entry->path);
            tree->count--;
        }
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **list;
    size_t count;
    size_t capacity;
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static int names_add(struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 64;
        char **grown = reallocarray(names->list, capacity, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        names->list = grown;
        names->capacity = capacity;
    }
    names->list[names->count] = strdup(name);
    if (!names->list[names->count])
        return -ENOMEM;
    names->count++;
    return 0;
}

/* The names in a directory, sorted. */
static int read_names(int directory_fd, struct names *ret)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    autoclosedir DIR *dir = fdopendir(fd);
    if (!dir) {
        int error = -errno;
        close(fd);
        return error;
    }
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int r = names_add(ret, entry->d_name);
        if (r < 0)
            return r;
    }
    if (errno != 0)
        return -errno;
    if (ret->count > 1)
        qsort(ret->list, ret->count, sizeof(*ret->list), compare_names);
    return 0;
}

static int scan_directory(struct tree *tree, const struct tree_options *options, size_t directory)
{
    __attribute__((cleanup(names_fini))) struct names names = {0};
    autoclose int fd =
        beneath_open(tree->root_fd, tree->entries[directory].path, O_RDONLY | O_DIRECTORY);
    int r = fd < 0 ? fd : read_names(fd, &names);

    if (r == -ENOMEM)
        return r;
    if (r < 0) {
        tree->entries[directory].failed = true;
        options->failed(options->context, tree->entries[directory].path, r);
        return 0;
    }
    for (size_t i = 0; i < names.count; i++) {
        r = add_child(tree, options, fd, directory, names.list[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Entries by file, the earliest of each first. */
static int compare_files(const void *a, const void *b)
{
    const struct tree_entry *x = *(struct tree_entry *const *)a;
    const struct tree_entry *y = *(struct tree_entry *const *)b;

    if (x->st.st_dev != y->st.st_dev)
        return x->st.st_dev < y->st.st_dev ? -1 : 1;
    if (x->st.st_ino != y->st.st_ino)
        return x->st.st_ino < y->st.st_ino ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int find_links(struct tree *tree)
{
    autofree struct tree_entry **linked = calloc(tree->count + 1, sizeof(struct tree_entry *));
    size_t count = 0;

    if (!linked)
        return -ENOMEM;
    for (size_t i = 0; i < tree->count; i++)
        if (S_ISREG(tree->entries[i].st.st_mode) && tree->entries[i].st.st_nlink > 1)
            linked[count++] = &tree->entries[i];
    qsort(linked, count, sizeof(struct tree_entry *), compare_files);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (linked[i]->st.st_dev == linked[first]->st.st_dev &&
            linked[i]->st.st_ino == linked[first]->st.st_ino)
            linked[i]->first_link = (size_t)(linked[first] - tree->entries);
        else
            first = i;
    }
    return 0;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp((*(struct tree_entry *const *)a)->path, (*(struct tree_entry *const *)b)->path);
}

/* Once the list is complete. */
static int index_paths(struct tree *tree)
{
    tree->by_path = calloc(tree->count + 1, sizeof(struct tree_entry *));
    if (!tree->by_path)
        return -ENOMEM;
    for (size_t i = 0; i < tree->count; i++)
        tree->by_path[i] = &tree->entries[i];
    qsort(tree->by_path, tree->count, sizeof(struct tree_entry *), compare_paths);
    return 0;
}

int tree_scan(int root_fd, const struct tree_options *options, struct tree *ret)
{
    *ret = (struct tree){.root_fd = root_fd};
    struct tree_entry *root = add_entry(ret, strdup(""));

    if (!root)
        return -ENOMEM;
    if (fstat(root_fd, &root->st) < 0)
        return -errno;
    for (size_t i = 0; i < ret->count; i++) {
        if (!S_ISDIR(ret->entries[i].st.st_mode))
            continue;
        int r = scan_directory(ret, options, i);
        if (r < 0)
            return r;
    }
    int r = find_links(ret);
    return r < 0 ? r : index_paths(ret);
}

int tree_single(int root_fd, const char *name, struct tree *ret)
{
    *ret = (struct tree){.root_fd = root_fd};
    struct tree_entry *entry = add_entry(ret, strdup(name));

    if (!entry)
        return -ENOMEM;
    if (fstatat(root_fd, name, &entry->st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return index_paths(ret);
}

static int compare_path(const void *path, const void *entry)
{
    return strcmp(path, (*(struct tree_entry *const *)entry)->path);
}

const struct tree_entry *tree_find(const struct tree *tree, const char *path)
{
    struct tree_entry **found =
        bsearch(path, tree->by_path, tree->count, sizeof(*tree->by_path), compare_path);
    return found ? *found : NULL;
}
