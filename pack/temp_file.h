/* temp_file.h - a file that has no final name until it is complete and on disk.
 *
 * It is locked (flock) while its writer lives, so that what a killed writer left behind
 * can be told from what is being written. Different files may be used on different threads.
 */
#ifndef PACK_TEMP_FILE_H
#define PACK_TEMP_FILE_H

#include <sys/stat.h>

struct temp_file {
    int directory_fd; /* borrowed; must outlive the temp_file */
    int fd;           /* -1: there is none */
    char name[64];
};

#define TEMP_FILE_NONE                                                                             \
    {                                                                                              \
        .directory_fd = -1, .fd = -1                                                               \
    }

/* An empty file in that directory, readable by its owner only. Returns 0 or -errno. */
__attribute__((warn_unused_result)) int temp_file_create(int directory_fd, struct temp_file *ret);

/* Mode and modification time of the original; owner too when the process may. Returns 0 or
 * -errno. */
__attribute__((warn_unused_result)) int temp_file_dress(struct temp_file *temp,
                                                        const struct stat *original);

/* fsync, close and rename to name, replacing a regular file or link of that name. The file
 * must still be discarded if this fails. The directory is not synced. Returns 0 or -errno
 * with what failed in *ret_what. */
__attribute__((warn_unused_result)) int temp_file_publish(struct temp_file *temp, const char *name,
                                                          const char **ret_what);

/* Remove it unless it was published. For __attribute__((cleanup)); keeps errno. */
void temp_file_discard(struct temp_file *temp);

/* Remove what killed writers left in that directory. Failures do not matter. */
void temp_file_sweep(int directory_fd);

#endif
