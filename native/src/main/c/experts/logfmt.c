/* Rows in LogFMT of 10 bits; what its kernels need is in logfmt.h. */
#include "expert_variant.h"

#include <errno.h>

int64_t sluice_experts_encode_logfmt(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        void *sizes,
        int64_t sizes_offset,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int hidden,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count)) {
        return -EINVAL;
    }
    const struct experts_variant *kernels = sluice_experts_kernels();
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        int32_t size = (int32_t)kernels->encode(
                (const char *)from + from_offset + i * from_stride, (char *)to + to_offset + i * to_stride,
                hidden / GROUP);
        memcpy((char *)sizes + sizes_offset + i * 4, &size, sizeof size);
    }
    return count;
}

int64_t sluice_experts_decode_logfmt(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        int to_form,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int hidden,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count) || to_form < SLUICE_EXPERTS_BFLOAT16 || to_form > SLUICE_EXPERTS_FLOAT32) {
        return -EINVAL;
    }
    const struct experts_variant *kernels = sluice_experts_kernels();
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        kernels->decode(
                (const char *)from + from_offset + i * from_stride, (char *)to + to_offset + i * to_stride,
                to_form == SLUICE_EXPERTS_FLOAT32, hidden / GROUP);
    }
    return count;
}
