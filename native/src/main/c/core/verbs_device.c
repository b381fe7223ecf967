#include "verbs_library.h"

#include <endian.h>
#include <string.h>

/* The header inlines these two and calls functions that are not linked. */

static int query_device(struct ibv_context *context, struct ibv_device_attr_ex *attributes) {
    memset(attributes, 0, sizeof *attributes);
    errno = 0;
    struct verbs_context *extended = verbs_get_ctx_op(context, query_device_ex);
    if (extended != NULL) {
        int result = verbs_result(extended->query_device_ex(context, NULL, attributes, sizeof *attributes));
        if (result != -EOPNOTSUPP && result != -ENOSYS) {
            return result;
        }
        memset(attributes, 0, sizeof *attributes);
        errno = 0;
    }
    return verbs_result(verbs.query_device(context, &attributes->orig_attr));
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes) {
    memset(attributes, 0, sizeof *attributes);
    errno = 0;
    struct verbs_context *extended = verbs_get_ctx_op(context, query_port);
    return verbs_result(
            extended != NULL ? extended->query_port(context, port, attributes, sizeof *attributes)
                             : verbs.query_port(context, port, (struct _compat_ibv_port_attr *)attributes));
}

static int atomics(enum ibv_atomic_cap capability) {
    switch (capability) {
        case IBV_ATOMIC_HCA:
            return 1;
        case IBV_ATOMIC_GLOB:
            return 2;
        default:
            return 0;
    }
}

static int mtu_bytes(enum ibv_mtu mtu) {
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

static int gid_type(uint32_t type) {
    switch (type) {
        case IBV_GID_TYPE_IB:
            return SLUICE_VERBS_GID_INFINIBAND;
        case IBV_GID_TYPE_ROCE_V1:
            return SLUICE_VERBS_GID_ROCE_V1;
        case IBV_GID_TYPE_ROCE_V2:
            return SLUICE_VERBS_GID_ROCE_V2;
        default:
            return SLUICE_VERBS_GID_UNKNOWN;
    }
}

/* The event type decides which member of the union is set. */
static void describe(const struct ibv_async_event *event, struct sluice_verbs_event_record *record) {
    memset(record, 0, sizeof *record);
    record->type = (int32_t)event->event_type;
    switch (event->event_type) {
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            record->handle = (int64_t)(intptr_t)event->element.qp;
            record->queue_pair_number = (int32_t)event->element.qp->qp_num;
            break;
        case IBV_EVENT_CQ_ERR:
            record->handle = (int64_t)(intptr_t)event->element.cq;
            break;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            record->handle = (int64_t)(intptr_t)event->element.srq;
            break;
        case IBV_EVENT_PORT_ACTIVE:
        case IBV_EVENT_PORT_ERR:
        case IBV_EVENT_LID_CHANGE:
        case IBV_EVENT_PKEY_CHANGE:
        case IBV_EVENT_SM_CHANGE:
        case IBV_EVENT_CLIENT_REREGISTER:
        case IBV_EVENT_GID_CHANGE:
            record->port = event->element.port_num;
            break;
        default:
            break;
    }
}

void **sluice_verbs_device_list(void) {
    /* NULL without a kernel driver; then there are no devices either. */
    return sluice_verbs_loaded() ? (void **)verbs.get_device_list(NULL) : NULL;
}

void sluice_verbs_free_device_list(void **list) {
    verbs.free_device_list((struct ibv_device **)list);
}

const char *sluice_verbs_device_name(void *element) {
    return verbs.get_device_name(element);
}

int64_t sluice_verbs_device_open(const char *name) {
    void **list = sluice_verbs_device_list();
    if (list == NULL) {
        return -ENODEV;
    }
    int64_t result = -ENODEV;
    for (void **element = list; *element != NULL; element++) {
        const char *found = sluice_verbs_device_name(*element);
        if (found != NULL && strcmp(found, name) == 0) {
            errno = 0;
            result = verbs_handle(verbs.open_device(*element));
            break;
        }
    }
    sluice_verbs_free_device_list(list);
    if (result < 0) {
        return result;
    }
    struct ibv_context *context = (struct ibv_context *)(intptr_t)result;
    int error = verbs_set_non_blocking(context->async_fd);
    if (error < 0) {
        verbs.close_device(context);
        return error;
    }
    return result;
}

int sluice_verbs_device_close(void *device) {
    errno = 0;
    return device == NULL ? -EINVAL : verbs_result(verbs.close_device(device));
}

int sluice_verbs_device_query(void *device, struct sluice_verbs_device_record *record) {
    if (device == NULL || !verbs_is_record(record)) {
        return -EINVAL;
    }
    struct ibv_device_attr_ex attributes;
    int result = query_device(device, &attributes);
    if (result < 0) {
        return result;
    }
    const struct ibv_device_attr *plain = &attributes.orig_attr;
    bool pages_on_demand = attributes.odp_caps.general_caps & IBV_ODP_SUPPORT;
    *record = (struct sluice_verbs_device_record){
        .max_region_bytes = plain->max_mr_size > INT64_MAX ? INT64_MAX : (int64_t)plain->max_mr_size,
        .node_guid = (int64_t)be64toh(plain->node_guid),
        .max_queue_pairs = plain->max_qp,
        .max_queue_pair_work_requests = plain->max_qp_wr,
        .max_sge = plain->max_sge,
        .max_completion_queues = plain->max_cq,
        .max_completion_queue_entries = plain->max_cqe,
        .max_regions = plain->max_mr,
        .max_read_depth_as_target = plain->max_qp_rd_atom,
        .max_read_depth_as_initiator = plain->max_qp_init_rd_atom,
        .max_shared_receive_queues = plain->max_srq,
        .max_shared_receive_queue_work_requests = plain->max_srq_wr,
        .ports = plain->phys_port_cnt,
        .atomics = atomics(plain->atomic_cap),
        .on_demand_paging = pages_on_demand ? (int32_t)attributes.odp_caps.per_transport_caps.rc_odp_caps : 0,
        .vendor_id = (int32_t)plain->vendor_id,
        .vendor_part_id = (int32_t)plain->vendor_part_id,
        .max_sge_of_reads = plain->max_sge_rd,
    };
    return 0;
}

int sluice_verbs_device_query_port(void *device, int port, struct sluice_verbs_port_record *record) {
    if (device == NULL || !verbs_is_record(record) || !verbs_is_within(port, 1, UINT8_MAX)) {
        return -EINVAL;
    }
    struct ibv_port_attr attributes;
    int result = query_port(device, (uint8_t)port, &attributes);
    if (result < 0) {
        return result;
    }
    *record = (struct sluice_verbs_port_record){
        .max_message_bytes = attributes.max_msg_sz,
        .state = (int32_t)attributes.state,
        .active_mtu_bytes = mtu_bytes(attributes.active_mtu),
        .max_mtu_bytes = mtu_bytes(attributes.max_mtu),
        .lid = attributes.lid,
        /* Drivers that do not report it predate RDMA over Ethernet. */
        .link_layer = attributes.link_layer == IBV_LINK_LAYER_UNSPECIFIED ? IBV_LINK_LAYER_INFINIBAND
                                                                          : attributes.link_layer,
        .gid_table_length = attributes.gid_tbl_len,
        .active_width = attributes.active_width,
        .active_speed = attributes.active_speed,
        .subnet_manager_lid = attributes.sm_lid,
    };
    return 0;
}

int sluice_verbs_device_query_gid(void *device, int port, int index, struct sluice_verbs_gid_record *record) {
    if (device == NULL || !verbs_is_record(record) || !verbs_is_within(port, 1, UINT8_MAX) || index < 0) {
        return -EINVAL;
    }
    struct ibv_gid_entry entry = {.gid_type = UINT32_MAX};
    errno = 0;
    int result = -EOPNOTSUPP;
    if (verbs.query_gid_ex != NULL) {
        result = verbs_result(
                verbs.query_gid_ex(device, (uint32_t)port, (uint32_t)index, &entry, 0, sizeof entry));
    }
    if (result == -EOPNOTSUPP) {
        entry.gid_type = UINT32_MAX;
        errno = 0;
        result = verbs_result(verbs.query_gid(device, (uint8_t)port, index, &entry.gid));
    }
    if (result < 0) {
        return result;
    }
    memcpy(record->gid, entry.gid.raw, sizeof record->gid);
    record->type = gid_type(entry.gid_type);
    return 0;
}

int sluice_verbs_device_async_descriptor(void *device) {
    return device == NULL ? -EINVAL : ((struct ibv_context *)device)->async_fd;
}

int sluice_verbs_device_next_async_event(void *device, struct sluice_verbs_event_record *record) {
    if (device == NULL || !verbs_is_record(record)) {
        return -EINVAL;
    }
    struct ibv_async_event event;
    int result;
    do {
        memset(&event, 0, sizeof event);
        errno = 0;
        result = verbs_result(verbs.get_async_event(device, &event));
    } while (result == -EINTR);
    if (result < 0) {
        return result == -EAGAIN ? 0 : result;
    }
    describe(&event, record);
    /* The destroyer of the event's object waits for this acknowledgement: do not read the event afterwards. */
    verbs.ack_async_event(&event);
    return 1;
}

int64_t sluice_verbs_domain_allocate(void *device) {
    errno = 0;
    return device == NULL ? -EINVAL : verbs_handle(verbs.alloc_pd(device));
}

int sluice_verbs_domain_free(void *domain) {
    errno = 0;
    return domain == NULL ? -EINVAL : verbs_result(verbs.dealloc_pd(domain));
}
