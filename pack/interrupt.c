/* interrupt.c - the handler only notes the signal. */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int received; /* lock-free, so it may be set in a handler */

static void handle(int number)
{
    atomic_store(&received, number);
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool interrupt_pending(void)
{
    return atomic_load_explicit(&received, memory_order_relaxed) != 0;
}

void interrupt_resume(void)
{
    int number = atomic_load(&received);

    if (!number)
        return;
    signal(number, SIG_DFL);
    raise(number);
}
