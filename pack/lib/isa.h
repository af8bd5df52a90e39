/* isa.h - which instruction set the codec uses.
 *
 * Decided once, at the first call or by isa_force before it: the best that the
 * processor has, or what the environment variable TRUNKFS_ISA names. All sets
 * produce and accept the same bytes.
 */
#ifndef TRUNK_ISA_H
#define TRUNK_ISA_H

enum isa { ISA_SCALAR, ISA_AVX2, ISA_AVX512, ISA_NEON };

/* Choose by name: "auto", "scalar", "avx2", "avx512", "neon"; NULL means TRUNKFS_ISA, or
 * auto. Call once, from main, before any other thread uses the codec. Returns 0,
 * -EINVAL (unknown name), -ENOTSUP (this processor or build lacks it). */
__attribute__((warn_unused_result)) int isa_select(const char *name);

enum isa isa_current(void); /* selects auto if nothing was selected; thread-safe */
const char *isa_name(enum isa isa);

#endif
