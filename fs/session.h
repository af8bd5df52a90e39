/* session.h - the mount: between the kernel (libfuse) and the rest.
 *
 * session.c mounts, receives and replies, session_ops.c answers; they are the only ones that
 * know FUSE. Requests are received by the workers themselves, each from a channel of its
 * own where the kernel allows that, and may be answered from any thread.
 */
#ifndef TRUNKFS_SESSION_H
#define TRUNKFS_SESSION_H

#include <stdbool.h>

#include "file_set.h"
#include "options.h"
#include "pipeline.h"
#include "tree.h"

struct session;

struct session_config {
    const struct options *options;
    const char *mountpoint; /* absolute */
    struct tree *tree;
    struct file_set *files;
    unsigned worker_count;
};

/* Mount. Errors are printed. Returns 0, -EIO. */
__attribute__((warn_unused_result)) int session_new(const struct session_config *config,
                                                    struct session **ret);

/* Unmount, unless it is already, and free. The threads that receive have ended. */
void session_free(struct session *session); /* NULL is allowed */

/* For worker.h: one descriptor per worker. */
const int *session_request_fds(const struct session *session);

/* A worker_receive (worker.h); context is the session. */
__attribute__((warn_unused_result)) int session_receive(void *context, unsigned index,
                                                        struct pipeline_worker *worker);

/* Where the pipeline sends replies to. */
const struct pipeline_sink *session_sink(void);

/* A descriptor that is readable once the kernel's first request has been answered: the mount
 * works. */
int session_ready_fd(const struct session *session);

/* Is a request waiting to be received? */
bool session_has_requests(const struct session *session);

#endif
