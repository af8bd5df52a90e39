/* interrupt.h - SIGINT, SIGTERM and SIGHUP end a run between two chunks of work, so that
 * temporary files are removed. */
#ifndef PACK_INTERRUPT_H
#define PACK_INTERRUPT_H

#include <stdbool.h>

/* Once, from main, before threads are made. */
void interrupt_watch(void);

/* Has one of the signals come? Any thread. */
bool interrupt_pending(void);

/* If one has come, end the process by that very signal, as a shell expects. From main,
 * after everything has been cleaned up. */
void interrupt_resume(void);

#endif
