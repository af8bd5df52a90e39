/* reference.h - what the readers of mounts share: the original's bytes, and counts of
 * compared and differing reads. Any thread; the counts are atomic.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reference {
    const uint8_t *bytes; /* the whole original, mapped */
    uint64_t size;
};

/* Map the original at path; exits the program with a message on failure. */
void reference_open(struct reference *ref, const char *path);

/* One finished read: count bytes (or -errno) at offset where length were asked for. A
 * short count before the end, a wrong byte or an error counts as a mismatch and is
 * printed with method (the first few). */
void reference_check(const struct reference *ref, const char *method, const void *got,
                     ssize_t count, uint64_t offset, uint64_t length);

/* Print "N reads, N bytes, N mismatches"; returns main's exit status. */
int reference_report(const char *program);

/* A small generator of random numbers (xorshift64*); state must not be 0. */
uint64_t random_next(uint64_t *state);

/* A uniform value below limit (> 0). */
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
