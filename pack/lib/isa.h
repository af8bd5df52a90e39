/* isa.h - which instruction set the codec uses.
 *
 * Decided once, at the first call of isa_current or by isa_select before it: the best
 * that the processor has, or what the environment variable TRUNKFS_ISA names. All sets
 * produce and accept the same bytes. Callable on any thread.
 */
#ifndef TRUNK_ISA_H
#define TRUNK_ISA_H

#include <stdbool.h>

enum isa { ISA_SCALAR, ISA_AVX2, ISA_AVX512, ISA_NEON, ISA_COUNT_ };

/* Choose by name: "auto", "scalar", "avx2", "avx512", "neon"; NULL means TRUNKFS_ISA, or
 * auto. A program calls it once, from main, before any other thread uses the codec; a
 * test may call it again, as long as no other thread is inside the codec. Returns 0,
 * -EINVAL (unknown name), -ENOTSUP (this processor or build lacks it; the choice made
 * before stands). */
__attribute__((warn_unused_result)) int isa_select(const char *name);

/* The choice. Without one it is made as by isa_select(NULL); where that fails, auto. */
enum isa isa_current(void);

bool isa_available(enum isa isa); /* in this build and on this processor */
const char *isa_name(enum isa isa);

#endif
