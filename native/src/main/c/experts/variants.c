/* Which variant is used. */
#include "expert_variant.h"
#include "sluice_reduce.h"

static const struct experts_variant *const variants[SLUICE_REDUCE_VARIANTS] = {
    [SLUICE_REDUCE_PLAIN] = &sluice_experts_plain,
    [SLUICE_REDUCE_AVX2] = &sluice_experts_avx2,
    [SLUICE_REDUCE_AVX512] = &sluice_experts_avx512,
};

const struct experts_variant *sluice_experts_kernels(void) {
    return variants[sluice_reduce_variant()];
}
