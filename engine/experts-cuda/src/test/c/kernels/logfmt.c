/* LogFMT, value by value, as native's logfmt_kernels.h says it: what a row is after it was encoded and decoded. */
#include "expert_driver.h"

#define LEAST_NORMAL 0x0080
#define ONE 0x3f80

static float logarithm(float value) {
    uint32_t bits = bits_of(value);
    float x = float_of((bits & 0x7fffff) | 0x3f800000) - 1.0f;
    static const float factors[] = {
        0.0637875944f, -0.155599967f, 0.25617969f, -0.353454679f, 0.48007375f, -0.721310735f, 1.44269478f};
    float sum = -0.0123706432f;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        sum = sum * x + factors[i];
    }
    return (float)((int)(bits >> 23) - 127) + sum * x;
}

static float power(float logarithm) {
    int exponent = (int)logarithm;
    float x = logarithm - (float)exponent;
    static const float factors[] = {0.00129178935f, 0.00959716924f, 0.055499278f, 0.240226105f, 0.693147182f, 1.0f};
    float sum = 0.000114980845f;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        sum = sum * x + factors[i];
    }
    return float_of(bits_of(sum) + ((uint32_t)exponent << 23));
}

static void find_extremes(const uint16_t *from, uint32_t *least, uint32_t *greatest) {
    *least = 0x7fff;
    *greatest = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        uint32_t magnitude = from[i] & 0x7fff;
        *least = magnitude < *least ? magnitude : *least;
        *greatest = magnitude > *greatest ? magnitude : *greatest;
    }
}

static void pass_group(const uint16_t *from, float *to) {
    uint32_t least, greatest;
    find_extremes(from, &least, &greatest);
    float high = logarithm(float_of(greatest << 16));
    float low = high - 32.0f;
    if (least >= LEAST_NORMAL && logarithm(float_of(least << 16)) > low) {
        low = logarithm(float_of(least << 16));
    }
    float step = (high - low) / 510.0f;
    float inverse = 1.0f / step;
    float rounding = 1.5f - step * 0.0866433978f;
    for (unsigned i = 0; i < GROUP; i++) {
        uint32_t magnitude = from[i] & 0x7fff;
        float place = magnitude < LEAST_NORMAL ? 0 : (logarithm(float_of(magnitude << 16)) - low) * inverse + rounding;
        int code = place > 0 ? (int)place : 0;
        float value = (float)(code - 1) * step + low;
        to[i] = code == 0 || value < -126.0f ? 0 : power(value);
        to[i] = from[i] >> 15 != 0 ? -to[i] : to[i];
    }
}

void pass_logfmt(const uint16_t *from, float *to, unsigned hidden) {
    unsigned groups = hidden / GROUP;
    unsigned most = groups % 8 == 0 ? 8 : 4;
    for (unsigned first = 0; first < groups; first += most) {
        unsigned end = first + most < groups ? first + most : groups;
        bool is_encoded = true;
        for (unsigned group = first; group < end; group++) {
            uint32_t least, greatest;
            find_extremes(from + group * GROUP, &least, &greatest);
            is_encoded &= greatest < ONE && greatest >= LEAST_NORMAL && least < greatest;
        }
        for (unsigned group = first; group < end; group++) {
            if (is_encoded) {
                pass_group(from + group * GROUP, to + group * GROUP);
                continue;
            }
            for (unsigned i = group * GROUP; i < (group + 1) * GROUP; i++) {
                to[i] = float_of_bfloat16(from[i]);
            }
        }
    }
}
