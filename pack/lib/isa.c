/* isa.c - see isa.h. */
#include "isa.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SELECTED = -1 };

static atomic_int selected = NOT_SELECTED;

static const char *const names[ISA_COUNT_] = {
    [ISA_SCALAR] = "scalar",
    [ISA_AVX2] = "avx2",
    [ISA_AVX512] = "avx512",
    [ISA_NEON] = "neon",
};

/* Best first. */
static const enum isa preference[] = {ISA_AVX512, ISA_AVX2, ISA_NEON, ISA_SCALAR};

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

bool isa_available(enum isa isa)
{
    switch (isa) {
    case ISA_SCALAR:
        return true;
#if defined(__x86_64__)
    case ISA_AVX2:
        return has_avx2();
    case ISA_AVX512:
        return has_avx512();
#elif defined(__aarch64__)
    case ISA_NEON:
        return true;
#endif
    default:
        return false;
    }
}

static enum isa best(void)
{
    for (size_t i = 0; i < sizeof preference / sizeof preference[0]; i++)
        if (isa_available(preference[i]))
            return preference[i];
    return ISA_SCALAR;
}

static int select_by_name(const char *name)
{
    if (strcmp(name, "auto") == 0) {
        atomic_store(&selected, (int)best());
        return 0;
    }
    for (int isa = 0; isa < ISA_COUNT_; isa++) {
        if (strcmp(name, names[isa]) != 0)
            continue;
        if (!isa_available((enum isa)isa))
            return -ENOTSUP;
        atomic_store(&selected, isa);
        return 0;
    }
    return -EINVAL;
}

int isa_select(const char *name)
{
    if (!name)
        name = getenv("TRUNKFS_ISA");
    return select_by_name(name ? name : "auto");
}

enum isa isa_current(void)
{
    int isa = atomic_load_explicit(&selected, memory_order_relaxed);
    if (isa == NOT_SELECTED) {
        if (isa_select(NULL) < 0)
            atomic_store(&selected, (int)best());
        isa = atomic_load(&selected);
    }
    return (enum isa)isa;
}

const char *isa_name(enum isa isa)
{
    return (unsigned)isa < ISA_COUNT_ ? names[isa] : "unknown";
}
