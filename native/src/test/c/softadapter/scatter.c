#include "adapter.h"

uint64_t scatter_length(const struct ibv_sge *elements, int count) {
    uint64_t length = 0;
    for (int i = 0; i < count; i++) {
        length += elements[i].length;
    }
    return length;
}

int scatter_resolve(const struct ibv_pd *domain, const struct ibv_sge *elements, int count, uint64_t offset,
        uint64_t length, int access, struct span spans[MAXIMUM_SCATTER]) {
    int found = 0;
    for (int i = 0; i < count && length > 0; i++) {
        if (offset >= elements[i].length) {
            offset -= elements[i].length;
            continue;
        }
        uint64_t part = elements[i].length - offset;
        if (part > length) {
            part = length;
        }
        char *start = memory_local(domain, elements[i].lkey, elements[i].addr + offset, part, access);
        if (start == NULL) {
            return -1;
        }
        spans[found++] = (struct span){.start = start, .length = part};
        length -= part;
        offset = 0;
    }
    return found;
}

void scatter_copy(const struct span *to, const struct span *from, uint64_t length) {
    uint64_t to_offset = 0;
    uint64_t from_offset = 0;
    while (length > 0) {
        uint64_t part = to->length - to_offset;
        if (part > from->length - from_offset) {
            part = from->length - from_offset;
        }
        if (part > length) {
            part = length;
        }
        /* A device may write over what it reads. */
        memmove(to->start + to_offset, from->start + from_offset, part);
        length -= part;
        to_offset += part;
        from_offset += part;
        if (to_offset == to->length) {
            to++;
            to_offset = 0;
        }
        if (from_offset == from->length) {
            from++;
            from_offset = 0;
        }
    }
}
