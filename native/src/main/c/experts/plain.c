/* Vectors of 16 bytes, which every processor of 64 bits has. */
#define VARIANT sluice_experts_plain
#define WIDTH 16
#define TARGET

#if defined(__x86_64__)

#include <immintrin.h>

#define GREATER(x, y) _mm_max_epi16((__m128i)(x), (__m128i)(y))
#define LESS(x, y) _mm_min_epi16((__m128i)(x), (__m128i)(y))
/* With the sign that it needs, a half stays as it is when halves saturate. */
#define extended(x) _mm_srai_epi32(_mm_slli_epi32((__m128i)(x), 16), 16)
#define narrowed(lower, upper) _mm_packs_epi32(extended(lower), extended(upper))

#else

#define narrowed(lower, upper) \
    __builtin_shuffle((u16_vector)(lower), (u16_vector)(upper), (u16_vector){0, 2, 4, 6, 8, 10, 12, 14})

#endif

#include "vectors.h"

#include "float8_kernels.h"
#include "logfmt_kernels.h"
#include "sum_kernels.h"
