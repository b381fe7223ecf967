/* Messages: a header with the token's index, the payload, and the scales of 8-bit floats. */
#include "rows.h"

#include <errno.h>

#define HEADER_BYTES SLUICE_EXPERTS_HEADER_BYTES
#define SCALE_BYTES ((int64_t)sizeof(float))

int64_t sluice_experts_pack(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int scales,
        int hidden,
        int first,
        int count) {
    if (!is_valid_call(hidden, first, count)
            || (scales != SLUICE_EXPERTS_NONE && scales != SLUICE_EXPERTS_EXACT && scales != SLUICE_EXPERTS_ROUNDED)) {
        return -EINVAL;
    }
    const struct experts_variant *kernels = sluice_experts_kernels();
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        char *message = (char *)to + to_offset + i * to_stride;
        const char *row = (const char *)from + from_offset + i * from_stride;
        const int32_t header[HEADER_BYTES / sizeof(int32_t)] = {(int32_t)i};
        memcpy(message, header, HEADER_BYTES);
        char *payload = message + HEADER_BYTES;
        if (scales == SLUICE_EXPERTS_NONE) {
            memcpy(payload, row, 2 * (size_t)hidden);
        } else {
            struct scale_column column = {
                .at = payload + hidden, .stride = SCALE_BYTES, .form = (enum sluice_experts_scales)scales};
            kernels->quantize(row, payload, &column, hidden / GROUP);
        }
    }
    return count;
}

int64_t sluice_experts_unpack(
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
        int past_caches) {
    if (!is_valid_call(hidden, first, count) || form < SLUICE_EXPERTS_EXACT || form > SLUICE_EXPERTS_NONE) {
        return -EINVAL;
    }
    const char *table = table_at(indices, indices_offset);
    size_t payload_bytes = (form == SLUICE_EXPERTS_NONE ? 2 : 1) * (size_t)hidden;
    int64_t done = 0;
    for (; done < count; done++) {
        int64_t i = first + done;
        int64_t index = row_index(table, i);
        if (index >= messages) {
            break;
        }
        if (index < 0) {
            continue;
        }
        const char *message = (const char *)from + from_offset + index * from_stride;
        const char *payload = message + HEADER_BYTES;
        memcpy((char *)tokens + tokens_offset + i * 4, message, 4);
        sluice_experts_copy_row((char *)to + to_offset + i * to_stride, payload, payload_bytes, past_caches != 0);
        if (form != SLUICE_EXPERTS_NONE) {
            struct scale_column column = {
                .at = (char *)scales + scales_offset + i * scales_row_stride,
                .stride = scales_group_stride,
                .form = (enum sluice_experts_scales)form,
            };
            for (int group = 0; group < hidden / GROUP; group++) {
                float scale;
                memcpy(&scale, payload + hidden + group * SCALE_BYTES, sizeof scale);
                write_scale(&column, group, scale);
            }
        }
    }
    sluice_experts_end_copies(past_caches != 0);
    return done;
}
