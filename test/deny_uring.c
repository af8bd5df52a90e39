/* deny_uring.c - runs a program for which io_uring_setup(2) fails with EPERM or ENOSYS, as in
 * a container whose filter refuses it. Needs CAP_SYS_ADMIN, so that set-uid helpers of the
 * program keep working.
 *
 * usage: deny_uring EPERM|ENOSYS PROGRAM ARGUMENT...
 */
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: deny_uring EPERM|ENOSYS PROGRAM ARGUMENT...");
    unsigned error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        err(2, "seccomp");
    execvp(argv[2], argv + 2);
    err(2, "%s", argv[2]);
}
