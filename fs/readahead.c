#include "readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int readahead_set(dev_t device, size_t size)
{
    char path[64], text[32];
    int length, fd, r;

    snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", major(device),
             minor(device));
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    length = snprintf(text, sizeof(text), "%zu\n", size / 1024);
    r = write(fd, text, (size_t)length) == length ? 0 : -errno;
    close(fd);
    return r;
}
