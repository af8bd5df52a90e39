/* log.h - one line to standard error (in the foreground) or to syslog (as a daemon).
 *
 * Callable on any thread. A message names file, cause and remedy; nobody reads a second
 * line, so there is none.
 */
#ifndef TRUNKFS_LOG_H
#define TRUNKFS_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Called from main only. Until log_to_syslog, lines go to standard error. */
void log_set_debug(bool on);
void log_to_syslog(void);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
