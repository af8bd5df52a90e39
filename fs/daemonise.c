#include "daemonise.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int daemonise_begin(void)
{
    unsigned char status = 1;
    int fds[2];
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    if (pid < 0) {
        int r = -errno;
        close(fds[0]);
        close(fds[1]);
        return r;
    }
    if (pid == 0) {
        close(fds[0]);
        return fds[1];
    }
    close(fds[1]);
    while (read(fds[0], &status, 1) < 0 && errno == EINTR)
        ;
    _exit(status);
}

void daemonise_done(int fd, unsigned char status)
{
    ssize_t n;

    if (status == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)!chdir("/");
        setsid();
        for (int i = 0; null >= 0 && i <= 2; i++)
            (void)dup2(null, i);
        if (null > 2)
            close(null);
    }
    n = write(fd, &status, 1);
    (void)n; /* a parent that was killed needs no status */
    close(fd);
}
