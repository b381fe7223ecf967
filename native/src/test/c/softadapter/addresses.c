#include "adapter.h"

#include <arpa/inet.h>

/* Index 0 is link-local, index 1 an IPv4 address; both are RoCE v2. The others are empty. */
void device_gid(const struct device *device, uint32_t index, union ibv_gid *gid) {
    memset(gid, 0, sizeof *gid);
    if (index == 0) {
        const uint8_t start[] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x50, 0xf7, 0xff, 0xfe, 0, 0};
        memcpy(gid->raw, start, sizeof start);
        gid->raw[15] = (uint8_t)(device->index + 1);
    } else if (index == 1) {
        const uint8_t start[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100};
        memcpy(gid->raw, start, sizeof start);
        gid->raw[15] = (uint8_t)(device->index + 1);
    }
}

struct device *device_with_gid(const union ibv_gid *gid, uint32_t *index) {
    for (int i = 0; i < MAXIMUM_DEVICES; i++) {
        for (uint32_t each = 0; each < GIDS; each++) {
            union ibv_gid candidate;
            device_gid(&devices[i], each, &candidate);
            if (memcmp(&candidate, gid, sizeof candidate) == 0) {
                *index = each;
                return &devices[i];
            }
        }
    }
    return NULL;
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
    if (port != PORT || index < 0 || index >= GID_TABLE_ENTRIES) {
        errno = EINVAL;
        return -1;
    }
    device_gid(device_of(context), (uint32_t)index, gid);
    return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
        uint32_t flags, size_t bytes) {
    if (port != PORT || index >= GID_TABLE_ENTRIES || bytes < sizeof *entry) {
        return EINVAL;
    }
    if (flags != 0) {
        return EOPNOTSUPP;
    }
    if (index >= GIDS) {
        return ENODATA;
    }
    *entry = (struct ibv_gid_entry){.gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_ROCE_V2};
    device_gid(device_of(context), index, &entry->gid);
    return 0;
}
