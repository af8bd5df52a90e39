/* session_private.h - what session.c and session_ops.c share. The only one to include libfuse. */
#ifndef TRUNKFS_SESSION_PRIVATE_H
#define TRUNKFS_SESSION_PRIVATE_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "session.h"

struct session {
    struct fuse_session *fuse;
    struct tree *tree;
    struct file_set *files;
    double entry_timeout, attr_timeout; /* seconds */
    unsigned max_background;
    int ready_fd; /* eventfd */
    unsigned worker_count;
    int *fds;                 /* one per worker; fds[0] is the session's own */
    struct fuse_buf *buffers; /* one per worker */
};

/* On the thread that runs an operation: its worker, and the channel that replies go to. */
struct pipeline_worker *session_worker(void);
__attribute__((warn_unused_result)) int session_channel(void);

extern const struct fuse_lowlevel_ops session_ops;

#endif
