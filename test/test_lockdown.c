/* test_lockdown.c - a worker that went wrong is stopped: each case runs in a thread that was
 * locked down, and does what it must not. */
#include "lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

static char directory[] = "/tmp/test-lockdown-XXXXXX";
static char inside[sizeof(directory) + 16];

struct attempt {
    int (*call)(void); /* returns a descriptor, 0 or -1 with errno */
    int result;        /* 0 or the errno */
};

static int open_inside(void)
{
    return open(inside, O_RDONLY | O_CLOEXEC);
}

static int open_inside_to_write(void)
{
    return open(inside, O_RDWR | O_CLOEXEC);
}

static int open_outside(void)
{
    return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static int create_inside(void)
{
    char path[sizeof(inside) + 8];
    snprintf(path, sizeof(path), "%s.new", inside);
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static int remove_inside(void)
{
    return unlink(inside);
}

static int execute(void)
{
    char *const arguments[] = {(char *)(size_t)"true", NULL};
    return execv("/bin/true", arguments);
}

static int connect_out(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int trace(void)
{
    return (int)syscall(SYS_ptrace, 0, 0, 0, 0);
}

static void *attempt_main(void *argument)
{
    struct attempt *attempt = argument;
    struct lockdown lockdown;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r;

    lockdown_init(&lockdown, fd);
    lockdown_thread(&lockdown);
    r = attempt->call();
    attempt->result = r < 0 ? errno : 0;
    if (r > 0)
        close(r);
    lockdown_fini(&lockdown);
    close(fd);
    return NULL;
}

static int try_locked(int (*call)(void))
{
    struct attempt attempt = {.call = call, .result = -1};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, attempt_main, &attempt), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return attempt.result;
}

static int make_directory(void)
{
    int fd;

    if (!mkdtemp(directory))
        return -errno;
    snprintf(inside, sizeof(inside), "%s/file", directory);
    fd = open(inside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : close(fd);
}

static void remove_directory(void)
{
    unlink(inside);
    rmdir(directory);
}

START_TEST(reading_the_packed_directory_is_allowed)
{
    ck_assert_int_eq(try_locked(open_inside), 0);
}
END_TEST

START_TEST(writing_is_stopped)
{
    ck_assert_int_ne(try_locked(open_inside_to_write), 0);
    ck_assert_int_ne(try_locked(create_inside), 0);
    ck_assert_int_ne(try_locked(remove_inside), 0);
}
END_TEST

START_TEST(other_files_are_out_of_reach)
{
    struct lockdown lockdown;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has_landlock;

    lockdown_init(&lockdown, fd);
    has_landlock = lockdown.ruleset_fd >= 0;
    lockdown_fini(&lockdown);
    close(fd);
    if (has_landlock) /* seccomp alone can't tell paths apart */
        ck_assert_int_eq(try_locked(open_outside), EACCES);
}
END_TEST

START_TEST(programs_sockets_and_tracing_are_stopped)
{
    ck_assert_int_eq(try_locked(execute), EPERM);
    ck_assert_int_eq(try_locked(connect_out), EPERM);
    ck_assert_int_eq(try_locked(trace), EPERM);
}
END_TEST

START_TEST(the_main_thread_keeps_its_rights)
{
    ck_assert_int_eq(try_locked(open_inside), 0);
    int fd = open_outside();
    ck_assert_int_ge(fd, 0);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lockdown");
    TCase *tcase = unit_case(suite, "lockdown");
    int status;

    if (make_directory() < 0)
        return 1;
    tcase_add_test(tcase, reading_the_packed_directory_is_allowed);
    tcase_add_test(tcase, writing_is_stopped);
    tcase_add_test(tcase, other_files_are_out_of_reach);
    tcase_add_test(tcase, programs_sockets_and_tracing_are_stopped);
    tcase_add_test(tcase, the_main_thread_keeps_its_rights);
    status = unit_run(suite);
    remove_directory();
    return status;
}
