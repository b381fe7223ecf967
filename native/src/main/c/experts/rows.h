/* Tables of rows, and copies of one. */
#ifndef ROWS_H
#define ROWS_H

#include "expert_variant.h"

/* Element i of a table of int32, or i where there is no table; below 0 for no row. */
static inline int64_t row_index(const char *table, int64_t i) {
    return table == NULL ? i : read_int32(table + i * 4);
}

static inline const char *table_at(const void *table, int64_t offset) {
    return table == NULL ? NULL : (const char *)table + offset;
}

/* Copies a row; past the caches, its bytes are visible to others only after sluice_experts_end_copies. */
void sluice_experts_copy_row(char *to, const char *from, size_t bytes, bool past_caches);
void sluice_experts_end_copies(bool past_caches);

#endif
