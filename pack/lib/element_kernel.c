/* element_kernel.c - the choice of element_kernel.h. */
#include "element_kernel.h"

#include "isa.h"

const struct element_kernel *element_kernel_get(void)
{
    switch (isa_current()) {
#if defined(__x86_64__)
    case ISA_AVX512:
        return &element_kernel_avx512;
    case ISA_AVX2:
        return &element_kernel_avx2;
#endif
    default:
        return &element_kernel_baseline;
    }
}
