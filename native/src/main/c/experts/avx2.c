#include "expert_variant.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VARIANT sluice_experts_avx2
#define WIDTH 32
#define TARGET __attribute__((target("avx2")))

#define GREATER(x, y) _mm256_max_epi16((__m256i)(x), (__m256i)(y))
#define GREATER_WORD(x, y) _mm256_max_epi32((__m256i)(x), (__m256i)(y))
#define LESS(x, y) _mm256_min_epi16((__m256i)(x), (__m256i)(y))
#define narrowed(lower, upper) \
    _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)(lower), (__m256i)(upper)), 0xd8)

/* One instruction each, where the compiler would use three. */
#define CHOOSE(mask, is, is_not) _mm256_blendv_epi8((__m256i)(is_not), (__m256i)(is), (__m256i)(mask))
#define JOIN(lower, upper) _mm256_blend_epi16((__m256i)(lower), (__m256i)(upper), 0xaa)

#include "vectors.h"

#include "float8_kernels.h"
#include "logfmt_kernels.h"
#include "sum_kernels.h"

#else

const struct experts_variant sluice_experts_avx2;

#endif
