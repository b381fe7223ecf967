/* Which rows make up each sum; the kernels add them. */
#include "rows.h"

#include <errno.h>

/* A sum's operands that there are, and their weights, with room for a bias. */
struct operands {
    const char *from[SLUICE_EXPERTS_OPERANDS + 1];
    float weights[SLUICE_EXPERTS_OPERANDS + 1];
    int count;
};

static bool add_operand(struct operands *operands, const char *from, float weight) {
    if (operands->count == SLUICE_EXPERTS_OPERANDS) {
        return false;
    }
    operands->from[operands->count] = from;
    operands->weights[operands->count] = weight;
    operands->count++;
    return true;
}

static void add_bias(struct operands *operands, const char *bias) {
    if (bias != NULL) {
        operands->from[operands->count] = bias;
        operands->weights[operands->count] = 1;
        operands->count++;
    }
}

static void sum(const struct operands *operands, char *to, int form, int hidden) {
    const struct experts_variant *kernels = sluice_experts_kernels();
    struct sum_job job = {
        .to = to,
        .from = operands->from,
        .weights = operands->weights,
        .operands = operands->count,
        .groups = hidden / GROUP,
    };
    if (form == SLUICE_EXPERTS_LOGFMT) {
        kernels->sum_logfmt(&job);
    } else {
        kernels->sum(&job);
    }
}

static float read_float(const char *from) {
    return float_of_bits((uint32_t)read_int32(from));
}

static bool is_form(int form) {
    return form == SLUICE_EXPERTS_BFLOAT16 || form == SLUICE_EXPERTS_LOGFMT;
}

int64_t sluice_experts_sum_slots(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        const void *choices,
        int64_t choices_offset,
        const void *weights,
        int64_t weights_offset,
        int form,
        int hidden,
        int operands,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || !is_form(form) || operands < 1) {
        return -EINVAL;
    }
    const char *chosen = (const char *)choices + choices_offset;
    const char *weight = (const char *)weights + weights_offset;
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        struct operands found = {.count = 0};
        for (int64_t slot = i * operands; slot < (i + 1) * operands; slot++) {
            if (read_int64(chosen + slot * 8) >= 0
                    && !add_operand(
                            &found, (const char *)from + from_offset + slot * from_stride, read_float(weight + slot * 4))) {
                return -EINVAL;
            }
        }
        sum(&found, (char *)to + to_offset + i * to_stride, form, hidden);
    }
    return count;
}

int64_t sluice_experts_sum_rows(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int64_t rows,
        const void *indices,
        int64_t indices_offset,
        const void *bias,
        int64_t bias_offset,
        int64_t bias_stride,
        int hidden,
        int operands,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || operands < 1) {
        return -EINVAL;
    }
    const char *table = (const char *)indices + indices_offset;
    for (int64_t done = 0; done < count; done++) {
        int64_t i = first + done;
        struct operands found = {.count = 0};
        for (int64_t element = i * operands; element < (i + 1) * operands; element++) {
            int64_t row = read_int32(table + element * 4);
            if (row >= rows) {
                return done;
            }
            if (row >= 0 && !add_operand(&found, (const char *)from + from_offset + row * from_stride, 1)) {
                return -EINVAL;
            }
        }
        add_bias(&found, bias == NULL ? NULL : (const char *)bias + bias_offset + i * bias_stride);
        sum(&found, (char *)to + to_offset + i * to_stride, SLUICE_EXPERTS_BFLOAT16, hidden);
    }
    return count;
}

int64_t sluice_experts_sum_at(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *addresses,
        int64_t addresses_offset,
        const void *weights,
        int64_t weights_offset,
        const void *bias,
        int64_t bias_offset,
        int64_t bias_stride,
        int form,
        int hidden,
        int operands,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || !is_form(form) || operands < 1
            || (bias != NULL && form == SLUICE_EXPERTS_LOGFMT)) {
        return -EINVAL;
    }
    const char *table = (const char *)addresses + addresses_offset;
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        struct operands found = {.count = 0};
        for (int64_t element = i * operands; element < (i + 1) * operands; element++) {
            const char *row = (const char *)(intptr_t)read_int64(table + element * 8);
            float weight = weights == NULL ? 1 : read_float((const char *)weights + weights_offset + element * 4);
            if (row != NULL && !add_operand(&found, row, weight)) {
                return -EINVAL;
            }
        }
        add_bias(&found, bias == NULL ? NULL : (const char *)bias + bias_offset + i * bias_stride);
        sum(&found, (char *)to + to_offset + i * to_stride, form, hidden);
    }
    return count;
}
