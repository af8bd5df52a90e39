#include "lockdown_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE       RETURN(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(SECCOMP_RET_ALLOW)

/* Flags that open for anything but reading. */
#define WRITE_FLAGS (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

int lockdown_filter_install(void)
{
#ifndef FILTER_ARCH
    return -ENOTSUP;
#else
    static const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        /* packed bytes, requests and replies */
        ALLOW(SYS_io_uring_enter), ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_writev),
        ALLOW(SYS_pread64), ALLOW(SYS_ppoll), ALLOW(SYS_lseek),
        /* the packed directory */
        ALLOW(SYS_openat2), ALLOW(SYS_close), ALLOW(SYS_fstat), ALLOW(SYS_newfstatat),
        ALLOW(SYS_statx), ALLOW(SYS_fstatfs), ALLOW(SYS_getdents64), ALLOW(SYS_readlinkat),
        ALLOW(SYS_fcntl), ALLOW(SYS_fadvise64),
        /* memory, threads, time */
        ALLOW(SYS_futex), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap),
        ALLOW(SYS_mprotect), ALLOW(SYS_madvise), ALLOW(SYS_brk), ALLOW(SYS_clock_gettime),
        ALLOW(SYS_clock_nanosleep), ALLOW(SYS_sched_yield), ALLOW(SYS_getrandom),
        ALLOW(SYS_sysinfo), ALLOW(SYS_rseq), ALLOW(SYS_set_robust_list),
        ALLOW(SYS_restart_syscall), ALLOW(SYS_exit), ALLOW(SYS_exit_group),
        /* signals, and an end by abort */
        ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_sigaltstack), ALLOW(SYS_getpid), ALLOW(SYS_gettid), ALLOW(SYS_tgkill),
        /* syslog */
        ALLOW(SYS_sendto), ALLOW(SYS_connect),
#ifdef SYS_poll
        ALLOW(SYS_poll),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        REFUSE,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITE_FLAGS, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        REFUSE,
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
                                 .filter = (struct sock_filter *)(size_t)filter};

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
#endif
}
