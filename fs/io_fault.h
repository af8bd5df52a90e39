/* io_fault.h - plant faults in reads of packed bytes, for tests (-o fault=).
 *
 * The text is a colon-separated list of kind/N: every N-th read, counted over all threads,
 * completes with that fault. Kinds: short (half of the bytes), again (EAGAIN), intr (EINTR),
 * eio (EIO), flip (one bit of what was read is wrong). For example short/3:again/5.
 */
#ifndef TRUNKFS_IO_FAULT_H
#define TRUNKFS_IO_FAULT_H

#include <stddef.h>
#include <stdint.h>

struct io_fault;

/* Returns 0, -EINVAL (text not understood), -ENOMEM. */
__attribute__((warn_unused_result)) int io_fault_new(const char *text, struct io_fault **ret);
void io_fault_free(struct io_fault *fault); /* NULL is allowed */

/* The result that a try with this result and these bytes shall appear to have had. */
__attribute__((warn_unused_result)) int io_fault_apply(struct io_fault *fault, int result,
                                                       uint8_t *bytes);

#endif
