#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <syslog.h>

static atomic_bool log_debug_on;
static atomic_bool log_syslog_on;

void log_set_debug(bool on)
{
    atomic_store(&log_debug_on, on);
}

void log_to_syslog(void)
{
    openlog("trunkfs", LOG_PID, LOG_DAEMON);
    atomic_store(&log_syslog_on, true);
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

void log_write(enum log_level level, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (level == LOG_LEVEL_DEBUG && !atomic_load_explicit(&log_debug_on, memory_order_relaxed))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (atomic_load(&log_syslog_on))
        syslog(log_priority(level), "%s", line);
    else
        fprintf(stderr, "trunkfs: %s\n", line);
}
