#include "variant.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* Not AVX-512's own conversion to bfloat16: it takes denormal floats for zeros, which the other variants do not. */
#define VARIANT sluice_reduce_avx512
#define WIDTH 64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define HAS_F16C

#define store_streaming(to, bytes) _mm512_stream_si512((__m512i *)(void *)(to), (__m512i)(bytes))
#define widened_f16(from) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from)))
#define halved(x) _mm512_cvtps_ph((__m512)(x), _MM_FROUND_TO_NEAREST_INT)
#define narrowed_f16(low, high) _mm512_inserti64x4(_mm512_castsi256_si512(halved(low)), halved(high), 1)

#include "kernels.h"

#else

const struct reduce_variant sluice_reduce_avx512;

#endif
