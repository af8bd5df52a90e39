/* log.h - one line to standard error (in the foreground) or to syslog (as a daemon).
 *
 * Callable on any thread. A message names file, cause and remedy; nobody reads a second
 * line, so there is none.
 */
#ifndef TRUNKFS_LOG_H
#define TRUNKFS_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Where lines go. Before a daemon has left its terminal, errors and warnings belong to whoever
 * started it, and the rest to syslog, so that a mount that works is silent. */
enum log_target { LOG_TARGET_STDERR, LOG_TARGET_STARTING, LOG_TARGET_SYSLOG };

/* Called from main only. The target is LOG_TARGET_STDERR at first. */
void log_set_debug(bool on);
void log_set_target(enum log_target target);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is this the first time of this key, among the last few hundred? For faults that every reader
 * meets again: what happened to `name` at `place` is logged once. */
bool log_is_new(const char *name, uint64_t place);

#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
