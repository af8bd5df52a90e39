/* lockdown_filter.h - the system calls that a worker may make; others fail with EPERM. */
#ifndef TRUNKFS_LOCKDOWN_FILTER_H
#define TRUNKFS_LOCKDOWN_FILTER_H

/* For the calling thread; needs no_new_privs. Returns 0, -ENOTSUP (no list for this
 * processor), -errno. */
__attribute__((warn_unused_result)) int lockdown_filter_install(void);

#endif
