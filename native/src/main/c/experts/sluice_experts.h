/*
 * Rows and messages of expert parallelism; ExpertKernels, ExpertSums and LogFmt in Java say what each function does. Every
 * variant of the kernels gives the same bits; the variant is that of the reductions.
 *
 * Java calls these functions by name, with memory and offsets into it. They return how many rows they did: fewer than
 * `count` if an index of a table exceeds the rows that there are; or -EINVAL if a number is out of its range. No address has
 * to be aligned. An index is read once, so that memory which others write to cannot lead beyond the rows.
 */
#ifndef SLUICE_EXPERTS_H
#define SLUICE_EXPERTS_H

#include <stdint.h>

/* Channels that share a scale, or the extremes of LogFMT. */
#define SLUICE_EXPERTS_GROUP 128
#define SLUICE_EXPERTS_HEADER_BYTES 16
#define SLUICE_EXPERTS_HIDDEN (1 << 20)
#define SLUICE_EXPERTS_OPERANDS 128

enum sluice_experts_floats { SLUICE_EXPERTS_BFLOAT16, SLUICE_EXPERTS_FLOAT32, SLUICE_EXPERTS_LOGFMT };

enum sluice_experts_scales {
    SLUICE_EXPERTS_EXACT,
    SLUICE_EXPERTS_ROUNDED,
    SLUICE_EXPERTS_PACKED,
    /* No scales: the payload is bfloat16. */
    SLUICE_EXPERTS_NONE
};

#define SLUICE_EXPERTS_CALLED __attribute__((visibility("default"))) int64_t

SLUICE_EXPERTS_CALLED sluice_experts_pack(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int scales,
        int hidden,
        int first,
        int count);

SLUICE_EXPERTS_CALLED sluice_experts_quantize(
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
        int count);

SLUICE_EXPERTS_CALLED sluice_experts_dequantize(
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
        int count);

/* `messages` is how many there are; `indices` may be NULL, and `scales` with form NONE. */
SLUICE_EXPERTS_CALLED sluice_experts_unpack(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        void *scales,
        int64_t scales_offset,
        int64_t scales_row_stride,
        int64_t scales_group_stride,
        void *tokens,
        int64_t tokens_offset,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int64_t messages,
        const void *indices,
        int64_t indices_offset,
        int form,
        int hidden,
        int first,
        int count,
        int past_caches);

/* Each table of indices may be NULL. */
SLUICE_EXPERTS_CALLED sluice_experts_copy(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        int64_t to_rows,
        const void *to_indices,
        int64_t to_indices_offset,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int64_t from_rows,
        const void *from_indices,
        int64_t from_indices_offset,
        int64_t bytes,
        int first,
        int count,
        int past_caches);

SLUICE_EXPERTS_CALLED sluice_experts_gather(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *addresses,
        int64_t addresses_offset,
        int64_t bytes,
        int first,
        int count,
        int past_caches);

SLUICE_EXPERTS_CALLED sluice_experts_encode_logfmt(
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
        int count);

SLUICE_EXPERTS_CALLED sluice_experts_decode_logfmt(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        int to_form,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int hidden,
        int first,
        int count);

SLUICE_EXPERTS_CALLED sluice_experts_sum_slots(
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
        int count);

/* `bias` may be NULL. */
SLUICE_EXPERTS_CALLED sluice_experts_sum_rows(
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
        int count);

/* `weights` and `bias` may be NULL. */
SLUICE_EXPERTS_CALLED sluice_experts_sum_at(
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
        int count);

#endif
