/* lockdown.h - what the threads that handle packed bytes may no longer do.
 *
 * Packed files may come from strangers. A worker gives up what it does not need before it
 * reads the first of them: new privileges, capabilities, writing or opening anything outside
 * the packed directory (Landlock), and all system calls but those it makes (seccomp); its
 * io_uring does nothing but read and poll (io_uring.c). The main thread sleeps meanwhile
 * and keeps what unmounting needs. Each step that the kernel lacks is said once in the log.
 *
 * Threads share memory, so this is a second line of defence; the first is that the decoder
 * trusts nothing.
 */
#ifndef TRUNKFS_LOCKDOWN_H
#define TRUNKFS_LOCKDOWN_H

struct lockdown {
    int ruleset_fd; /* Landlock, or -1 */
};

/* In main, before the workers start. packed_fd: the packed directory. */
void lockdown_init(struct lockdown *lockdown, int packed_fd);
void lockdown_fini(struct lockdown *lockdown);

/* The calling thread gives up. Cannot fail: what is not available is logged. */
void lockdown_thread(const struct lockdown *lockdown);

#endif
