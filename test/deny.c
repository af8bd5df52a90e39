/* deny.c - runs a program that is refused what a container's filter or a file system may
 * refuse. Needs CAP_SYS_ADMIN, so that set-uid helpers of the program keep working.
 *
 * usage: deny uring-EPERM|uring-ENOSYS|direct PROGRAM ARGUMENT...
 *   uring-…   io_uring_setup(2) fails with that error
 *   direct    fcntl(2) that would set O_DIRECT fails with EINVAL
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS_EQUAL(value, skip)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define UNLESS_ANY_BIT(value, skip) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, value, 0, skip)
#define FAIL(error)                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void install(struct sock_filter *filter, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        err(2, "seccomp");
}

static void deny_uring(unsigned error)
{
    struct sock_filter filter[] = {LOAD(nr), UNLESS_EQUAL(SYS_io_uring_setup, 1), FAIL(error),
                                   ALLOW};
    install(filter, sizeof(filter) / sizeof(filter[0]));
}

/* The low halves of the arguments, on a little-endian machine. */
static void deny_direct(void)
{
    struct sock_filter filter[] = {
        LOAD(nr),      UNLESS_EQUAL(SYS_fcntl, 5),  LOAD(args[1]), UNLESS_EQUAL(F_SETFL, 3),
        LOAD(args[2]), UNLESS_ANY_BIT(O_DIRECT, 1), FAIL(EINVAL),  ALLOW,
    };
    install(filter, sizeof(filter) / sizeof(filter[0]));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: deny uring-EPERM|uring-ENOSYS|direct PROGRAM ARGUMENT...");
    if (strcmp(argv[1], "uring-EPERM") == 0)
        deny_uring(EPERM);
    else if (strcmp(argv[1], "uring-ENOSYS") == 0)
        deny_uring(ENOSYS);
    else if (strcmp(argv[1], "direct") == 0)
        deny_direct();
    else
        errx(2, "unknown: %s", argv[1]);
    execvp(argv[2], argv + 2);
    err(2, "%s", argv[2]);
}
