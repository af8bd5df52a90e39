/* report.c - messages and the progress line, one at a time. */
#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

#define PROGRESS_INTERVAL 0.1 /* seconds */
#define ESTIMATE_AFTER    1.0 /* seconds, before which a speed says nothing */

static struct {
    struct report_options options; /* set once */
    bool progress;                 /* set once: standard error is a terminal */
    bool lines;                    /* set once: a line per file is wanted */
    double start;                  /* set once */

    pthread_mutex_t lock; /* guards what follows, and both streams */
    uint64_t expected;
    uint64_t done;
    uint64_t stored;
    uint64_t errors;
    double last_shown;
    bool line_open;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

double report_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void report_init(const struct report_options *options)
{
    bool terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);

    report.options = *options;
    report.progress = terminal && !options->quiet && !options->json;
    report.lines = !terminal && !options->quiet && !options->json;
    report.start = report_now();
    report.last_shown = report.start;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a line is seen when its file is done */
}

const char *report_size(uint64_t bytes, char text[REPORT_SIZE_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    unsigned unit = 0;

    for (; value >= 1024 && unit < 5; unit++)
        value /= 1024;
    snprintf(text, REPORT_SIZE_TEXT, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

double report_ratio(double stored_size, double raw_size)
{
    return raw_size > 0 ? stored_size / raw_size : 1.0;
}

static void clear_line_locked(void)
{
    if (report.line_open)
        fputs("\r\033[K", stderr);
    report.line_open = false;
}

static void show_progress_locked(double now)
{
    char done[REPORT_SIZE_TEXT], expected[REPORT_SIZE_TEXT];
    double seconds = now - report.start;
    double speed = seconds > 0 ? (double)report.done / seconds : 0;

    clear_line_locked();
    fprintf(stderr, "%s %s of %s, %.0f MB/s", report.options.verb, report_size(report.done, done),
            report_size(report.expected, expected), speed / 1e6);
    if (report.stored)
        fprintf(stderr, ", ratio %.4f", report_ratio((double)report.stored, (double)report.done));
    if (seconds >= ESTIMATE_AFTER && speed > 0 && report.expected > report.done) {
        unsigned long left = (unsigned long)((double)(report.expected - report.done) / speed + 1);
        fprintf(stderr, ", %lu:%02lu:%02lu left", left / 3600, left / 60 % 60, left % 60);
    }
    fflush(stderr);
    report.line_open = true;
    report.last_shown = now;
}

void report_expect(uint64_t raw_bytes)
{
    pthread_mutex_lock(&report.lock);
    report.expected += raw_bytes;
    pthread_mutex_unlock(&report.lock);
}

void report_advance(uint64_t raw_bytes, uint64_t stored_bytes)
{
    if (!report.progress)
        return;
    double now = report_now();
    pthread_mutex_lock(&report.lock);
    report.done += raw_bytes;
    report.stored += stored_bytes;
    if (now - report.last_shown >= PROGRESS_INTERVAL)
        show_progress_locked(now);
    pthread_mutex_unlock(&report.lock);
}

void report_end_progress(void)
{
    pthread_mutex_lock(&report.lock);
    clear_line_locked();
    fflush(stderr);
    pthread_mutex_unlock(&report.lock);
}

char *report_quote(const char *path)
{
    char *text = malloc(4 * strlen(path) + 1);
    char *end = text;

    if (!text)
        return NULL;
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c < 0x20 || c == 0x7f || c == '\\') {
            *end++ = '\\';
            *end++ = (char)('0' + (c >> 6));
            *end++ = (char)('0' + (c >> 3 & 7));
            *end++ = (char)('0' + (c & 7));
        } else {
            *end++ = (char)c;
        }
    }
    *end = '\0';
    return text;
}

/* "PATH: message" as one line. */
static void print_line(FILE *stream, const char *prefix, const char *path, const char *format,
                       va_list arguments, bool counted)
{
    autofree char *quoted = report_quote(path);

    pthread_mutex_lock(&report.lock);
    clear_line_locked();
    fprintf(stream, "%s%s: ", prefix, *path ? (quoted ? quoted : "?") : ".");
    vfprintf(stream, format, arguments);
    fputc('\n', stream);
    if (counted)
        report.errors++;
    pthread_mutex_unlock(&report.lock);
}

void report_file(const char *path, const char *format, ...)
{
    va_list arguments;

    if (!report.lines)
        return;
    va_start(arguments, format);
    print_line(stdout, "", path, format, arguments, false);
    va_end(arguments);
}

void report_fault(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(stderr, "trunkpack: ", path, format, arguments, true);
    va_end(arguments);
}

void report_note(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(stderr, "trunkpack: ", path, format, arguments, false);
    va_end(arguments);
}

/* What a person can do about it. */
static const char *remedy(int error)
{
    switch (-error) {
    case ENOSPC:
    case EDQUOT:
        return "; free space there and run the same command again: finished files are kept";
    case ESTALE:
        return "; let its writer finish, then run the same command again";
    case EACCES:
    case EPERM:
        return "; change the permissions, or run as another user";
    case EIO:
        return "; check the device, then run the same command again";
    case EFBIG:
        return "; choose a larger --frame-size and --block-size";
    default:
        return "";
    }
}

void report_error(const char *path, const char *what, int error)
{
    char text[128];

    if (error == -ECANCELED) {
        pthread_mutex_lock(&report.lock);
        report.errors++;
        pthread_mutex_unlock(&report.lock);
        return;
    }
    if (error == 0)
        report_fault(path, "%s", what);
    else if (error == -ESTALE)
        report_fault(path, "%s: the file changed meanwhile%s", what, remedy(error));
    else
        report_fault(path, "%s: %s%s", what, strerror_r(-error, text, sizeof(text)), remedy(error));
}

uint64_t report_error_count(void)
{
    pthread_mutex_lock(&report.lock);
    uint64_t count = report.errors;
    pthread_mutex_unlock(&report.lock);
    return count;
}
