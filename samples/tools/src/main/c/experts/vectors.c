#include "experts.h"

#include <math.h>
#include <string.h>

#define LARGEST 448.0f
#define LEAST_AMAX 1e-4f

size_t row_bytes(const struct plan *plan) {
    return (size_t)plan->hidden * sizeof(uint16_t);
}

size_t payload_bytes(const struct plan *plan) {
    size_t hidden = (size_t)plan->hidden;
    return plan->fp8 ? hidden + hidden / GROUP * sizeof(float) : row_bytes(plan);
}

static float to_float(uint16_t value) {
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof(result));
    return result;
}

static uint16_t to_bfloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* Numbers from -1 to 1 that differ from rank to rank, token to token and maker to maker. */
void vector_fill(uint16_t *vector, int hidden, int rank, int token, int maker) {
    uint64_t state = (uint64_t)rank << 48 ^ (uint64_t)token << 20 ^ (uint64_t)(maker + 1);
    for (int i = 0; i < hidden; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        vector[i] = to_bfloat16((float)((int64_t)(state >> 40) - (1 << 23)) / (1 << 23));
    }
}

/* Of a magnitude below the largest number: to nearest, to the even one of two. */
static uint8_t code_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = bits >> 24 & 0x80;
    bits &= 0x7fffffff;
    if (bits < (127 - 6) << 23) {
        /* Added to a number whose last bit is worth 2^-9, it is rounded by the processor. */
        float magnitude;
        memcpy(&magnitude, &bits, sizeof(magnitude));
        float sum = magnitude + 16384.0f;
        memcpy(&bits, &sum, sizeof(bits));
        return (uint8_t)(sign | (bits & 0xff));
    }
    bits += 0x7ffff + (bits >> 20 & 1);
    uint32_t code = (bits >> 20) - ((127 - 7) << 3);
    return (uint8_t)(sign | (code > 0x7e ? 0x7e : code));
}

void vector_quantise(const uint16_t *vector, int hidden, uint8_t *codes, float *scales) {
    for (int first = 0; first < hidden; first += GROUP) {
        float amax = LEAST_AMAX;
        for (int i = first; i < first + GROUP; i++) {
            float magnitude = fabsf(to_float(vector[i]));
            amax = magnitude > amax ? magnitude : amax;
        }
        float scale = LARGEST / amax;
        scales[first / GROUP] = amax * (1 / LARGEST);
        for (int i = first; i < first + GROUP; i++) {
            codes[i] = code_of(to_float(vector[i]) * scale);
        }
    }
}

void vector_sum(uint16_t *sum, const uint16_t *const *terms, const float *weights, int count, int hidden, float *scratch) {
    memset(scratch, 0, (size_t)hidden * sizeof(float));
    for (int term = 0; term < count; term++) {
        const uint16_t *values = terms[term];
        if (values == NULL) {
            continue;
        }
        for (int i = 0; i < hidden; i++) {
            scratch[i] += weights[term] * to_float(values[i]);
        }
    }
    for (int i = 0; i < hidden; i++) {
        sum[i] = to_bfloat16(scratch[i]);
    }
}
