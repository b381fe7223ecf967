#include "expert_variant.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VARIANT sluice_experts_avx512
#define WIDTH 64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

#define GREATER(x, y) _mm512_max_epi16((__m512i)(x), (__m512i)(y))
#define GREATER_WORD(x, y) _mm512_max_epi32((__m512i)(x), (__m512i)(y))
#define LESS(x, y) _mm512_min_epi16((__m512i)(x), (__m512i)(y))
#define narrowed(lower, upper) \
    _mm512_inserti64x4( \
            _mm512_castsi256_si512(_mm512_cvtepi32_epi16((__m512i)(lower))), \
            _mm512_cvtepi32_epi16((__m512i)(upper)), 1)

#include "vectors.h"

#include "float8_kernels.h"
#include "logfmt_kernels.h"
#include "sum_kernels.h"

#else

const struct experts_variant sluice_experts_avx512;

#endif
