#include "variant.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VARIANT sluice_reduce_avx2
#define WIDTH 32
#define TARGET __attribute__((target("avx2,f16c")))
#define HAS_F16C

#define store_streaming(to, bytes) _mm256_stream_si256((__m256i *)(void *)(to), (__m256i)(bytes))
#define widened_f16(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from)))
#define halved(x) _mm256_cvtps_ph((__m256)(x), _MM_FROUND_TO_NEAREST_INT)
#define narrowed_f16(low, high) _mm256_inserti128_si256(_mm256_castsi128_si256(halved(low)), halved(high), 1)

/* One instruction each, where the compiler would use three. */
#define CHOOSE(mask, is, is_not) _mm256_blendv_epi8((__m256i)(is_not), (__m256i)(is), (__m256i)(mask))
#define JOIN(lower, upper) _mm256_blend_epi16((__m256i)(lower), (__m256i)(upper), 0xaa)

#include "kernels.h"

#else

const struct reduce_variant sluice_reduce_avx2;

#endif
