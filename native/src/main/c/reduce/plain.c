/* Vectors of 16 bytes, which every processor of 64 bits has. */
#define VARIANT sluice_reduce_plain
#define WIDTH 16
#define TARGET

#if defined(__x86_64__)

#include <immintrin.h>

#define store_streaming(to, bytes) _mm_stream_si128((__m128i *)(void *)(to), (__m128i)(bytes))

#else

#define store_streaming(to, bytes) memcpy(to, &(bytes), WIDTH)

#endif

#include "kernels.h"
