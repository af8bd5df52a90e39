/* places.h - the operands of a command: opened, created, and kept apart. */
#ifndef PACK_PLACES_H
#define PACK_PLACES_H

#include <stdbool.h>

/* A source operand: a directory, or one file in a directory. A symbolic link given as an
 * operand is followed. */
struct place {
    int root_fd; /* the directory, or the one that the file is in */
    char *name;  /* of the file in root_fd, NULL for a directory; owned */
    char *shown; /* the last component as it was given: the file's name for the output; owned */
};

#define PLACE_NONE                                                                                 \
    {                                                                                              \
        .root_fd = -1                                                                              \
    }

/* Returns 0 or -errno; -EINVAL for what is neither a directory nor a regular file. */
__attribute__((warn_unused_result)) int place_open(const char *path, struct place *ret);
void place_close(struct place *place);

/* The directory path, made with all that lead to it if make is set. Refuses, with -EBUSY, one
 * that lies in the source or is it (for a file: the directory that holds it), or in which the
 * source directory lies. ret_fd is -1 if it does not exist and make is not set. */
__attribute__((warn_unused_result)) int
place_destination(const char *path, const struct place *source, bool make, int *ret_fd);

#endif
