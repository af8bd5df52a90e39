/* daemonise.h - into the background, so that the parent's exit status tells how it went.
 *
 * Called from main while there is one thread.
 */
#ifndef TRUNKFS_DAEMONISE_H
#define TRUNKFS_DAEMONISE_H

/* Fork. Returns in the child, with a descriptor for daemonise_done; the parent waits for that
 * and exits with its status (1 if the child dies before). -errno: could not fork. */
__attribute__((warn_unused_result)) int daemonise_begin(void);

/* In the child: let the parent exit with status. With status 0 also leave the terminal. */
void daemonise_done(int fd, unsigned char status);

#endif
