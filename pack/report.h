/* report.h - everything that trunkpack tells a person while it works.
 *
 * Errors go to standard error, one line each, naming file and remedy. Lines about files go
 * to standard output; on a terminal one progress line takes their place. Any thread.
 */
#ifndef PACK_REPORT_H
#define PACK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_options {
    bool quiet;       /* errors only */
    bool json;        /* standard output belongs to JSON */
    const char *verb; /* for the progress line, e.g. "packing" */
};

/* Once, before other threads call report_*. */
void report_init(const struct report_options *options);

/* More lies ahead, for the progress line; or less, by a difference modulo 2^64. */
void report_expect(uint64_t raw_bytes);

/* raw_bytes more are done, and have become stored_bytes (0 where that is not known: then the
 * progress line shows no ratio). */
void report_advance(uint64_t raw_bytes, uint64_t stored_bytes);

/* A line about a file, left out when quiet, on a terminal or with JSON. */
__attribute__((format(printf, 2, 3))) void report_file(const char *path, const char *format, ...);

/* Something that failed: "trunkpack: PATH: WHAT: ERROR (REMEDY)". error: -errno, or 0 when
 * what says it all. Counted. -ECANCELED is not reported, only counted. */
void report_error(const char *path, const char *what, int error);
__attribute__((format(printf, 2, 3))) void report_fault(const char *path, const char *format, ...);

/* As report_error, but not counted. */
__attribute__((format(printf, 2, 3))) void report_note(const char *path, const char *format, ...);

uint64_t report_error_count(void);

/* Take the progress line away before something else is printed. */
void report_end_progress(void);

/* path with bytes that a terminal must not see as \ooo; allocated, NULL without memory. */
char *report_quote(const char *path);

/* A size for people, e.g. "64.0 MiB". */
enum { REPORT_SIZE_TEXT = 32 };
const char *report_size(uint64_t bytes, char text[REPORT_SIZE_TEXT]);

/* stored / raw; 1 for nothing. */
double report_ratio(double stored_size, double raw_size);

/* Seconds since some fixed moment. */
double report_now(void);

#endif
