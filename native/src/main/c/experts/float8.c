/* 8-bit floats: groups with special values, and the way back. */
#include "expert_variant.h"

#include <errno.h>

#define NAN_CODE 0x7f
#define SIGN_CODE 0x80

static uint8_t code_of(float scaled) {
    uint32_t bits = bits_of_float(scaled);
    uint32_t rest = bits & 0x7fffffff;
    uint32_t sign = bits >> 24 & SIGN_CODE;
    if (rest < 0x3c800000) {
        /* Denormal: the last bit of the sum is worth the least of them. */
        return (uint8_t)(sign | (bits_of_float(float_of_bits(rest) + 16384.0f) - 0x46800000));
    }
    return (uint8_t)(sign | (((rest + 0x7ffff + (rest >> 20 & 1)) >> 20) - (120 << 3)));
}

float sluice_experts_quantize_special(const char *from, char *to, enum sluice_experts_scales form) {
    uint16_t values[GROUP];
    memcpy(values, from, sizeof values);
    uint32_t greatest = 0;
    for (int i = 0; i < GROUP; i++) {
        uint32_t value = values[i] & 0x7fff;
        if (value > greatest && value <= 0x7f80) {
            greatest = value;
        }
    }
    struct scale scale = scale_of(float_of_bits(greatest << 16), form);
    for (int i = 0; i < GROUP; i++) {
        float scaled = float_of_bits((uint32_t)values[i] << 16) * scale.factor;
        to[i] = (char)(scaled == scaled ? code_of(scaled) : NAN_CODE);
    }
    return scale.inverse;
}

static float value_of(uint8_t code) {
    uint32_t rest = code & 0x7f;
    uint32_t sign = (uint32_t)(code & SIGN_CODE) << 24;
    if (rest == NAN_CODE) {
        return float_of_bits(0x7fc00000);
    }
    if (rest < 8) {
        return float_of_bits(bits_of_float((float)rest * 0x1p-9f) | sign);
    }
    return float_of_bits(((rest << 20) + (120u << 23)) | sign);
}

static float read_scale(const char *scales, int64_t stride, int form, int group) {
    if (form != SLUICE_EXPERTS_PACKED) {
        return float_of_bits((uint32_t)read_int32(scales + group * stride));
    }
    uint32_t packed = (uint32_t)read_int32(scales + group / PACKED_GROUPS * stride);
    return float_of_bits((packed >> 8 * (group % PACKED_GROUPS) & 0xff) << 23);
}

static void write_float(char *to, int form, int64_t index, float value) {
    if (form == SLUICE_EXPERTS_FLOAT32) {
        uint32_t bits = value == value ? bits_of_float(value) : 0x7fc00000;
        memcpy(to + index * (int64_t)sizeof bits, &bits, sizeof bits);
    } else {
        uint16_t bits = bfloat16_of(value);
        memcpy(to + index * (int64_t)sizeof bits, &bits, sizeof bits);
    }
}

int64_t sluice_experts_quantize(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        void *scales,
        int64_t scales_offset,
        int64_t scales_row_stride,
        int64_t scales_group_stride,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int form,
        int hidden,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || form < SLUICE_EXPERTS_EXACT || form > SLUICE_EXPERTS_PACKED) {
        return -EINVAL;
    }
    const struct experts_variant *kernels = sluice_experts_kernels();
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        struct scale_column column = {
            .at = (char *)scales + scales_offset + i * scales_row_stride,
            .stride = scales_group_stride,
            .form = (enum sluice_experts_scales)form,
        };
        kernels->quantize(
                (const char *)from + from_offset + i * from_stride, (char *)to + to_offset + i * to_stride, &column,
                hidden / GROUP);
    }
    return count;
}

int64_t sluice_experts_dequantize(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        int to_form,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        const void *scales,
        int64_t scales_offset,
        int64_t scales_row_stride,
        int64_t scales_group_stride,
        int form,
        int hidden,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || form < SLUICE_EXPERTS_EXACT || form > SLUICE_EXPERTS_PACKED
            || to_form < SLUICE_EXPERTS_BFLOAT16 || to_form > SLUICE_EXPERTS_FLOAT32) {
        return -EINVAL;
    }
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        const char *codes = (const char *)from + from_offset + i * from_stride;
        const char *column = (const char *)scales + scales_offset + i * scales_row_stride;
        char *row = (char *)to + to_offset + i * to_stride;
        for (int64_t j = 0; j < hidden; j++) {
            float scale = read_scale(column, scales_group_stride, form, (int)(j / GROUP));
            write_float(row, to_form, j, value_of((uint8_t)codes[j]) * scale);
        }
    }
    return count;
}
