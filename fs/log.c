#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>

static atomic_bool log_debug_on;
static atomic_int log_current_target; /* enum log_target */

void log_set_debug(bool on)
{
    atomic_store(&log_debug_on, on);
}

void log_set_target(enum log_target target)
{
    if (target != LOG_TARGET_STDERR) {
        /* Connect and read the time zone before any lockdown. */
        openlog("trunkfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
        tzset();
    }
    atomic_store(&log_current_target, (int)target);
}

static bool goes_to_syslog(enum log_level level)
{
    enum log_target target = (enum log_target)atomic_load(&log_current_target);
    return target == LOG_TARGET_SYSLOG ||
           (target == LOG_TARGET_STARTING && level > LOG_LEVEL_WARNING);
}

static int log_priority(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return LOG_ERR;
    case LOG_LEVEL_WARNING:
        return LOG_WARNING;
    case LOG_LEVEL_INFO:
        return LOG_INFO;
    case LOG_LEVEL_DEBUG:
        break;
    }
    return LOG_DEBUG;
}

bool log_is_new(const char *name, uint64_t place)
{
    enum { KEY_COUNT = 512 };
    static _Atomic uint64_t keys[KEY_COUNT];
    uint64_t key = UINT64_C(0xcbf29ce484222325) ^ place;

    for (; *name; name++)
        key = (key ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    key ^= key >> 29;
    key |= 1; /* 0 is an empty place */
    return atomic_exchange(&keys[(key >> 1) % KEY_COUNT], key) != key;
}

/* Names of files come from strangers: no second line, nothing that a terminal would obey. */
static void disarm(char *line)
{
    for (; *line; line++) {
        if ((unsigned char)*line < ' ' || *line == 0x7f)
            *line = '?';
    }
}

void log_write(enum log_level level, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (level == LOG_LEVEL_DEBUG && !atomic_load_explicit(&log_debug_on, memory_order_relaxed))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    disarm(line);
    if (goes_to_syslog(level))
        syslog(log_priority(level), "%s", line);
    else
        fprintf(stderr, "trunkfs: %s\n", line);
}
