#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log.h"
#include "session_private.h"

/* libfuse replies to the channel that it received from, in the thread that received. Replies
 * here leave from any thread, so the channel is kept beside libfuse: our own I/O functions
 * take it from the thread instead of from their argument. */
static _Thread_local struct pipeline_worker *thread_worker;
static _Thread_local int thread_channel = -1;

struct pipeline_worker *session_worker(void)
{
    return thread_worker;
}

int session_channel(void)
{
    return thread_channel;
}

static ssize_t channel_read(int fd, void *buffer, size_t size, void *context)
{
    return read(thread_channel, buffer, size);
}

/* A reply that the kernel could not take for want of memory must not leave its client waiting
 * for ever: tell at least that. */
static ssize_t channel_write(int fd, struct iovec *iov, int count, void *context)
{
    ssize_t n = writev(thread_channel, iov, count);

    if (n < 0 && (errno == ENOMEM || errno == EFAULT)) {
        struct fuse_out_header *header = iov[0].iov_base;
        header->len = sizeof(*header);
        header->error = -ENOMEM;
        n = writev(thread_channel, iov, 1);
    }
    return n;
}

static void sink_reply(void *token, int channel, const struct iovec *iov, int count)
{
    int own = thread_channel;

    thread_channel = channel;
    fuse_reply_iov(token, iov, count);
    thread_channel = own;
}

static void sink_reply_error(void *token, int channel, int error)
{
    int own = thread_channel;

    thread_channel = channel;
    fuse_reply_err(token, error);
    thread_channel = own;
}

const struct pipeline_sink *session_sink(void)
{
    static const struct pipeline_sink sink = {.reply = sink_reply, .reply_error = sink_reply_error};
    return &sink;
}

int session_receive(void *context, unsigned index, struct pipeline_worker *worker)
{
    struct session *session = context;
    struct fuse_buf *buffer = &session->buffers[index];
    int r;

    thread_worker = worker;
    thread_channel = session->fds[index];
    r = fuse_session_receive_buf(session->fuse, buffer);
    if (r == 0 || r == -ENODEV || r == -ECONNABORTED)
        return -ENODEV; /* unmounted, or the connection was aborted */
    if (r < 0)
        return 0; /* another worker was faster, or the kernel has no memory now */
    fuse_session_process_buf(session->fuse, buffer);
    return 1;
}

bool session_has_requests(const struct session *session)
{
    struct pollfd pollfd = {.fd = session->fds[0], .events = POLLIN};
    return poll(&pollfd, 1, 0) > 0 && (pollfd.revents & POLLIN);
}

const int *session_request_fds(const struct session *session)
{
    return session->fds;
}

int session_ready_fd(const struct session *session)
{
    return session->ready_fd;
}

static int add_option(char **list, const char *option)
{
    return fuse_opt_add_opt_escaped(list, option) < 0 ? -ENOMEM : 0;
}

/* The -o list for libfuse and the kernel. */
static int mount_options(const struct session_config *config, struct fuse_args *args)
{
    const struct options *options = config->options;
    char *list = NULL;
    char text[8192];
    int r = 0;

    static const char *const always[] = {"ro", "nosuid", "nodev"};
    for (unsigned i = 0; r == 0 && i < 3; i++)
        r = add_option(&list, always[i]);
    if (r == 0 && options->allow_other)
        r = add_option(&list, "allow_other");
    if (r == 0 && options->default_permissions)
        r = add_option(&list, "default_permissions");
    if (r == 0 && options->no_exec)
        r = add_option(&list, "noexec");
    if (r == 0 && options->no_atime)
        r = add_option(&list, "noatime");
    snprintf(text, sizeof(text), "fsname=%s", options->fsname);
    if (r == 0)
        r = add_option(&list, text);
    snprintf(text, sizeof(text), "subtype=%s", options->subtype);
    if (r == 0)
        r = add_option(&list, text);
    if (r == 0 && (fuse_opt_add_arg(args, "trunkfs") < 0 || fuse_opt_add_arg(args, "-o") < 0 ||
                   fuse_opt_add_arg(args, list) < 0))
        r = -ENOMEM;
    if (r == 0 && options->debug && getenv("TRUNKFS_DEBUG_FUSE"))
        r = fuse_opt_add_arg(args, "-d") < 0 ? -ENOMEM : 0;
    free(list);
    return r;
}

/* A channel of its own for each worker spares them a common lock in the kernel. */
static void clone_channels(struct session *session)
{
    int own = fuse_session_fd(session->fuse);

    (void)fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK);
    (void)fcntl(own, F_SETFD, FD_CLOEXEC);
    session->fds[0] = own;
    for (unsigned i = 1; i < session->worker_count; i++) {
        uint32_t source = (uint32_t)own;
        int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && ioctl(fd, FUSE_DEV_IOC_CLONE, &source) < 0) {
            close(fd);
            fd = -1;
        }
        session->fds[i] = fd >= 0 ? fd : own;
    }
}

static int session_allocate(const struct session_config *config, struct session **ret)
{
    struct session *session = calloc(1, sizeof(*session));

    if (!session)
        return -ENOMEM;
    session->tree = config->tree;
    session->files = config->files;
    session->entry_timeout = config->options->entry_timeout;
    session->attr_timeout = config->options->attr_timeout;
    session->max_background = config->options->max_background;
    session->worker_count = config->worker_count;
    session->fds = calloc(config->worker_count, sizeof(*session->fds));
    session->buffers = calloc(config->worker_count, sizeof(*session->buffers));
    session->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!session->fds || !session->buffers || session->ready_fd < 0) {
        session_free(session);
        return -ENOMEM;
    }
    *ret = session;
    return 0;
}

int session_new(const struct session_config *config, struct session **ret)
{
    static const struct fuse_custom_io channel_io = {.read = channel_read, .writev = channel_write};
    struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
    struct session *session;
    int r = session_allocate(config, &session);

    if (r < 0)
        return r;
    r = mount_options(config, &args);
    if (r == 0) {
        session->fuse = fuse_session_new(&args, &session_ops, sizeof(session_ops), session);
        r = session->fuse ? 0 : -EIO;
    }
    /* libfuse prints why a mount failed. */
    if (r == 0 && fuse_session_mount(session->fuse, config->mountpoint) < 0)
        r = -EIO;
    fuse_opt_free_args(&args);
    if (r == 0) {
        clone_channels(session);
        r = fuse_session_custom_io(session->fuse, &channel_io, fuse_session_fd(session->fuse));
    }
    if (r < 0) {
        session_free(session);
        return r;
    }
    *ret = session;
    return 0;
}

void session_free(struct session *session)
{
    if (!session)
        return;
    for (unsigned i = 1; session->fds && i < session->worker_count; i++) {
        if (session->fds[i] > 0 && session->fds[i] != session->fds[0])
            close(session->fds[i]);
    }
    if (session->fuse) {
        fuse_session_unmount(session->fuse);
        fuse_session_destroy(session->fuse);
    }
    for (unsigned i = 0; session->buffers && i < session->worker_count; i++)
        free(session->buffers[i].mem);
    if (session->ready_fd >= 0)
        close(session->ready_fd);
    free(session->buffers);
    free(session->fds);
    free(session);
}
