/* server.h - all parts of a mount put together: memory, pipeline, tree, session, workers.
 *
 * Called from main.
 */
#ifndef TRUNKFS_SERVER_H
#define TRUNKFS_SERVER_H

#include "options.h"

struct server;

/* Mount and serve; returns when the mount can be read. Takes packed_fd over (closed on failure
 * too). options->fsname is set. Errors are reported. Returns 0, -errno. */
__attribute__((warn_unused_result)) int server_start(const struct options *options,
                                                     const char *mountpoint, int packed_fd,
                                                     struct server **ret);

/* Sleep until the mount is gone or signal_fd is readable; in that case also until what clients
 * have asked for is answered, within reason. */
void server_wait(struct server *server, int signal_fd);

/* Unmount and free. */
void server_stop(struct server *server); /* NULL is allowed */

#endif
