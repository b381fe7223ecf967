#include "adapter.h"

#include <endian.h>
#include <limits.h>

/* As the kernel tells it. */
#define PHYSICAL_STATE_DISABLED 3
#define PHYSICAL_STATE_LINK_UP 5
#define WIDTH_4X 2
#define SPEED_EDR 32

#define VENDOR 0x5af7
#define VENDOR_PART 1

static void fill(struct ibv_context *context, struct ibv_device_attr *attributes) {
    union ibv_gid gid;
    uint64_t queue_pairs = context_of(context)->settings.queue_pairs;
    device_gid(device_of(context), 0, &gid);
    *attributes = (struct ibv_device_attr){
        .fw_ver = "1.0",
        .node_guid = gid.global.interface_id,
        .sys_image_guid = gid.global.interface_id,
        .max_mr_size = UINT64_C(1) << 46,
        .page_size_cap = 0xfffff000,
        .vendor_id = VENDOR,
        .vendor_part_id = VENDOR_PART,
        .max_qp = (int)(queue_pairs < INT_MAX ? queue_pairs : INT_MAX),
        .max_qp_wr = MAXIMUM_WORK_REQUESTS,
        .device_cap_flags = IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_RC_RNR_NAK_GEN,
        .max_sge = (int)context_of(context)->settings.scatter,
        .max_sge_rd = (int)context_of(context)->settings.scatter,
        .max_cq = MAXIMUM_COMPLETION_QUEUES,
        .max_cqe = MAXIMUM_COMPLETIONS,
        .max_mr = MAXIMUM_REGIONS,
        .max_pd = 65536,
        .max_qp_rd_atom = MAXIMUM_READ_DEPTH,
        .max_res_rd_atom = MAXIMUM_READ_DEPTH * MAXIMUM_QUEUE_PAIRS,
        .max_qp_init_rd_atom = MAXIMUM_READ_DEPTH,
        .atomic_cap = IBV_ATOMIC_HCA,
        .max_srq = MAXIMUM_RECEIVE_QUEUES,
        .max_srq_wr = MAXIMUM_WORK_REQUESTS,
        .max_srq_sge = MAXIMUM_SCATTER,
        .max_pkeys = 1,
        .local_ca_ack_delay = 15,
        .phys_port_cnt = 1,
    };
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes) {
    fill(context, attributes);
    return 0;
}

int attributes_query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
        struct ibv_device_attr_ex *attributes, size_t bytes) {
    if ((input != NULL && input->comp_mask != 0) || bytes < sizeof attributes->orig_attr) {
        return EINVAL;
    }
    memset(attributes, 0, bytes);
    fill(context, &attributes->orig_attr);
    if (bytes >= sizeof *attributes) {
        attributes->phys_port_cnt_ex = 1;
    }
    return 0;
}

int attributes_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t bytes) {
    if (port != PORT) {
        return EINVAL;
    }
    bool up = atomic_load(&device_of(context)->port_up);
    struct ibv_port_attr all = {
        .state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = GID_TABLE_ENTRIES,
        .port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
        .max_msg_sz = MAXIMUM_MESSAGE_BYTES,
        .pkey_tbl_len = 1,
        .max_vl_num = 1,
        .active_width = WIDTH_4X,
        .active_speed = SPEED_EDR,
        .phys_state = up ? PHYSICAL_STATE_LINK_UP : PHYSICAL_STATE_DISABLED,
        .link_layer = IBV_LINK_LAYER_ETHERNET,
    };
    memcpy(attributes, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

/* Clients of the header go by the context's operations; this is for those that don't know the last fields. */
#undef ibv_query_port
EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attributes) {
    return attributes_query_port(
            context, port, (struct ibv_port_attr *)attributes, offsetof(struct ibv_port_attr, port_cap_flags2));
}
