/* The rows of a dispatch: quantised value by value, as the library does with special values. */
#include "experts_normal.h"

#include "expert_variant.h"

#include <string.h>

#define NAN_CODE 0x7f

static uint8_t code_of(float scaled) {
    uint32_t bits = bits_of_float(scaled);
    uint32_t rest = bits & 0x7fffffff;
    uint32_t sign = bits >> 24 & 0x80;
    if (scaled != scaled) {
        return NAN_CODE;
    }
    if (rest < 0x3c800000) {
        return (uint8_t)(sign | (bits_of_float(float_of_bits(rest) + 16384.0f) - 0x46800000));
    }
    return (uint8_t)(sign | (((rest + 0x7ffff + (rest >> 20 & 1)) >> 20) - (120 << 3)));
}

static void quantise(const uint16_t *from, uint8_t *to, uint8_t *scales, uint32_t hidden, enum format format) {
    for (uint32_t group = 0; group < hidden / GROUP; group++, from += GROUP, to += GROUP) {
        uint32_t greatest = 0;
        for (int i = 0; i < GROUP; i++) {
            uint32_t magnitude = from[i] & 0x7fff;
            greatest = magnitude > greatest && magnitude <= 0x7f80 ? magnitude : greatest;
        }
        struct scale scale = scale_of(
                float_of_bits(greatest << 16), format == FP8 ? SLUICE_EXPERTS_EXACT : SLUICE_EXPERTS_ROUNDED);
        for (int i = 0; i < GROUP; i++) {
            to[i] = code_of(float_of_bits((uint32_t)from[i] << 16) * scale.factor);
        }
        if (format == FP8_UE8M0) {
            scales[group] = (uint8_t)(bits_of_float(scale.inverse) >> 23);
        } else {
            memcpy(scales + group * sizeof scale.inverse, &scale.inverse, sizeof scale.inverse);
        }
    }
}

bool normal_put(int ordinal, uint64_t to, const void *bytes, uint64_t count) {
    void *at = reach(ordinal, to, count);
    if (at != NULL) {
        memcpy(at, bytes, count);
    }
    return at != NULL;
}

uint64_t normal_slot_at(const struct normal *in, const struct meeting *met, unsigned rank) {
    return in->buffer.windows[rank] + in->slots_at + met->slots[rank] * in->slot_bytes;
}

static bool put_row(
        int ordinal, const struct normal *in, uint64_t slot, uint64_t row, const uint8_t *from, enum format format) {
    if (format == BF16) {
        return normal_put(ordinal, slot + row * in->hidden * 2, from, in->hidden * 2ull);
    }
    uint8_t codes[1 << 16];
    uint8_t scales[(1 << 16) / GROUP * sizeof(float)];
    uint64_t scale_bytes = in->hidden / GROUP * (format == FP8_UE8M0 ? 1 : sizeof(float));
    quantise((const uint16_t *)from, codes, scales, in->hidden, format);
    return normal_put(ordinal, slot + row * in->hidden, codes, in->hidden)
            && normal_put(ordinal, slot + in->scales_in_slot + row * scale_bytes, scales, scale_bytes);
}

static bool put_note(
        int ordinal, const struct normal *in, uint64_t slot, uint64_t row, unsigned rank, uint32_t token,
        const int64_t *choices, const float *weights) {
    bool is_good = normal_put(ordinal, slot + in->sources_in_slot + row * sizeof token, &token, sizeof token);
    for (uint64_t k = 0; is_good && choices != NULL && k < in->top_k; k++) {
        int64_t local = choices[k] - (int64_t)rank * in->experts;
        bool is_there = local >= 0 && local < in->experts;
        int64_t choice = is_there ? local : -1;
        float weight = is_there ? weights[k] : 0;
        uint64_t element = row * in->top_k + k;
        is_good = normal_put(ordinal, slot + in->choices_in_slot + element * sizeof choice, &choice, sizeof choice)
                && normal_put(ordinal, slot + in->weights_in_slot + element * sizeof weight, &weight, sizeof weight);
    }
    return is_good;
}

bool normal_send_rows(
        int ordinal, const struct dispatch *what, const struct normal *in, const struct meeting *met,
        const int32_t *positions, const uint32_t *first, enum format format) {
    uint64_t row_bytes = in->hidden * 2ull;
    for (uint32_t token = 0; token < what->tokens; token++) {
        const uint8_t *from = reach(ordinal, what->x + token * row_bytes, row_bytes);
        const int64_t *choices = NULL;
        const float *weights = NULL;
        if (what->choices != 0) {
            choices = reach(ordinal, what->choices + (uint64_t)token * in->top_k * sizeof *choices, in->top_k * sizeof *choices);
            weights = reach(ordinal, what->weights + (uint64_t)token * in->top_k * sizeof *weights, in->top_k * sizeof *weights);
        }
        if (from == NULL || (what->choices != 0 && (choices == NULL || weights == NULL))) {
            return false;
        }
        for (unsigned rank = 0; rank < in->buffer.ranks; rank++) {
            int32_t position = positions[(uint64_t)token * in->buffer.ranks + rank];
            if (position < 0) {
                continue;
            }
            uint64_t row = first[rank] + (uint32_t)position;
            uint64_t slot = normal_slot_at(in, met, rank);
            if (!put_row(ordinal, in, slot, row, from, format)
                    || !put_note(ordinal, in, slot, row, rank, token, choices, weights)) {
                return false;
            }
        }
    }
    return true;
}

bool normal_mark_rows(
        int ordinal, const struct dispatch *what, const struct normal *in, uint64_t slot, uint32_t received) {
    const int32_t no_token = -1;
    const int64_t no_choice = -1;
    const float no_weight = 0;
    bool is_good = true;
    for (uint64_t row = received; is_good && row < what->worst; row++) {
        is_good = normal_put(ordinal, slot + in->sources_in_slot + row * sizeof no_token, &no_token, sizeof no_token);
        for (uint64_t k = 0; is_good && what->choices != 0 && k < in->top_k; k++) {
            uint64_t element = row * in->top_k + k;
            is_good = normal_put(ordinal, slot + in->choices_in_slot + element * sizeof no_choice, &no_choice, sizeof no_choice)
                    && normal_put(ordinal, slot + in->weights_in_slot + element * sizeof no_weight, &no_weight, sizeof no_weight);
        }
    }
    return is_good;
}
