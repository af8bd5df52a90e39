#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trunk_name.h"

struct record {
    size_t name; /* offset in names */
    ino_t ino;
    mode_t type;
    bool packed;
};

struct directory {
    int fd;
    struct record *records;
    size_t count, room;
    char *names;
    size_t names_size, names_room;
};

/* Make room for one more record and its name. */
static int make_room(struct directory *directory, size_t name_size)
{
    if (directory->count == directory->room) {
        size_t room = directory->room ? 2 * directory->room : 64;
        void *records = realloc(directory->records, room * sizeof(struct record));
        if (!records)
            return -ENOMEM;
        directory->records = records;
        directory->room = room;
    }
    if (directory->names_room - directory->names_size < name_size) {
        size_t room = 2 * directory->names_room + name_size + 1024;
        void *names = realloc(directory->names, room);
        if (!names)
            return -ENOMEM;
        directory->names = names;
        directory->names_room = room;
    }
    return 0;
}

static int add(struct directory *directory, const char *name, ino_t ino, mode_t type, bool packed)
{
    size_t name_size = strlen(name) + 1;
    int r = make_room(directory, name_size);

    if (r < 0)
        return r;
    directory->records[directory->count++] =
        (struct record){.name = directory->names_size, .ino = ino, .type = type, .packed = packed};
    memcpy(directory->names + directory->names_size, name, name_size);
    directory->names_size += name_size;
    return 0;
}

static int add_entry(struct tree *tree, struct directory *directory, const struct inode *inode,
                     const struct dirent *entry)
{
    char source[TRUNK_NAME_MAX + 1];
    mode_t type = DTTOIF(entry->d_type);
    struct stat st = {.st_ino = entry->d_ino, .st_dev = inode->backing.st_dev};
    enum trunk_name_kind kind;

    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
        return add(directory, entry->d_name, tree_shown_ino(tree, &st), S_IFDIR, false);
    if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_DIR) {
        /* A directory may be another file system's root, whose number is not in the entry. */
        if (fstatat(directory->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return errno == ENOENT ? 0 : -errno;
        type = st.st_mode & S_IFMT;
    }
    if (!S_ISREG(type) && !S_ISDIR(type) && !S_ISLNK(type))
        return 0;
    kind = trunk_name_of_entry(entry->d_name, S_ISREG(type), source);
    if (kind == TRUNK_NAME_HIDDEN)
        return 0;
    return add(directory, source, tree_shown_ino(tree, &st), type, kind == TRUNK_NAME_PACKED);
}

static int read_entries(struct tree *tree, struct directory *directory, const struct inode *inode)
{
    int fd = fcntl(directory->fd, F_DUPFD_CLOEXEC, 0);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    int r = 0;

    if (!stream) {
        r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    while (r == 0 && (errno = 0, entry = readdir(stream)))
        r = add_entry(tree, directory, inode, entry);
    if (r == 0 && errno)
        r = -errno;
    closedir(stream);
    return r;
}

static int compare_records(const void *a, const void *b, void *names)
{
    const struct record *x = a, *y = b;
    int order = strcmp((const char *)names + x->name, (const char *)names + y->name);
    return order ? order : (int)y->packed - (int)x->packed;
}

/* A packed file wins over a plain one of the same shown name (left over by a copy, say): drop
 * the second of each pair. Order then is by name, which is as good as any. */
static void drop_shadowed(struct directory *directory)
{
    size_t kept = 0;

    qsort_r(directory->records, directory->count, sizeof(struct record), compare_records,
            directory->names);
    for (size_t i = 0; i < directory->count; i++) {
        if (kept && !strcmp(directory->names + directory->records[kept - 1].name,
                            directory->names + directory->records[i].name))
            continue;
        directory->records[kept++] = directory->records[i];
    }
    directory->count = kept;
}

static int add_stats(struct directory *directory, const struct inode *inode)
{
    int r = add(directory, ".", inode->shown.st_ino, S_IFDIR, false);
    if (r == 0)
        r = add(directory, "..", inode->parent->shown.st_ino, S_IFDIR, false);
    return r == 0 ? add(directory, TREE_METRICS, inode->shown.st_ino, S_IFREG, false) : r;
}

int directory_open(struct tree *tree, struct inode *inode, struct directory **ret)
{
    struct directory *directory = calloc(1, sizeof(*directory));
    int r;

    if (!directory)
        return -ENOMEM;
    directory->fd = -1;
    if (inode->kind == INODE_STATS_DIRECTORY) {
        r = add_stats(directory, inode);
    } else {
        directory->fd = tree_open_directory(tree, inode);
        r = directory->fd < 0 ? directory->fd : read_entries(tree, directory, inode);
        if (r == 0)
            drop_shadowed(directory);
    }
    if (r < 0) {
        directory_close(directory);
        return r;
    }
    *ret = directory;
    return 0;
}

void directory_close(struct directory *directory)
{
    if (!directory)
        return;
    if (directory->fd >= 0)
        close(directory->fd);
    free(directory->records);
    free(directory->names);
    free(directory);
}

size_t directory_count(const struct directory *directory)
{
    return directory->count;
}

void directory_get(const struct directory *directory, size_t i, struct directory_entry *ret)
{
    const struct record *record = &directory->records[i];
    *ret = (struct directory_entry){
        .name = directory->names + record->name, .ino = record->ino, .type = record->type};
}

int directory_fd(const struct directory *directory)
{
    return directory->fd;
}
