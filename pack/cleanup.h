/* cleanup.h - what a scope gives back when it is left, whichever way. errno is kept. */
#ifndef PACK_CLEANUP_H
#define PACK_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_close(const int *fd)
{
    int saved = errno;
    if (*fd >= 0)
        close(*fd);
    errno = saved;
}

static inline void cleanup_free(void *pointer)
{
    int saved = errno;
    free(*(void **)pointer);
    errno = saved;
}

static inline void cleanup_closedir(DIR *const *dir)
{
    int saved = errno;
    if (*dir)
        closedir(*dir);
    errno = saved;
}

#define autoclose    __attribute__((cleanup(cleanup_close)))
#define autofree     __attribute__((cleanup(cleanup_free)))
#define autoclosedir __attribute__((cleanup(cleanup_closedir)))

/* Take a descriptor out of the hands of autoclose. */
static inline int steal_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
