#include "verbs_library.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

/* The most requests passed to the adapter in one call, and so on the stack. */
#define PIECE 64

#define FLAGS ((uint32_t)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE))
#define QUEUE_PAIR_ACCESS \
    (SLUICE_VERBS_LOCAL_WRITE | SLUICE_VERBS_REMOTE_WRITE | SLUICE_VERBS_REMOTE_READ | SLUICE_VERBS_REMOTE_ATOMIC)
#define MAXIMUM_24_BITS 0xffffff

_Static_assert(sizeof(struct sluice_verbs_work_request) == 80, "VerbsQueuePair.RECORD_BYTES");
/* A gather list is passed to the adapter unchanged. */
_Static_assert(sizeof(struct sluice_verbs_piece) == sizeof(struct ibv_sge), "VerbsQueuePair.PIECE_BYTES");
_Static_assert(offsetof(struct sluice_verbs_piece, address) == offsetof(struct ibv_sge, addr), "address");
_Static_assert(offsetof(struct sluice_verbs_piece, length) == offsetof(struct ibv_sge, length), "length");
_Static_assert(offsetof(struct sluice_verbs_piece, local_key) == offsetof(struct ibv_sge, lkey), "local_key");
_Static_assert(sizeof(struct sluice_verbs_path_record) == 64, "VerbsQueuePair.PATH_BYTES");

static int modify(struct ibv_qp *queue_pair, struct ibv_qp_attr *attributes, int mask) {
    errno = 0;
    return verbs_result(verbs.modify_qp(queue_pair, attributes, mask));
}

static int query(struct ibv_qp *queue_pair, int mask, struct ibv_qp_attr *attributes, struct ibv_qp_init_attr *initial) {
    if (queue_pair == NULL) {
        return -EINVAL;
    }
    memset(attributes, 0, sizeof *attributes);
    memset(initial, 0, sizeof *initial);
    errno = 0;
    return verbs_result(verbs.query_qp(queue_pair, attributes, mask, initial));
}

static int change_state(struct ibv_qp *queue_pair, enum ibv_qp_state state) {
    struct ibv_qp_attr attributes = {.qp_state = state};
    return queue_pair == NULL ? -EINVAL : modify(queue_pair, &attributes, IBV_QP_STATE);
}

/* 0 if there is no such MTU. */
static int to_mtu(int bytes) {
    for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
        if (bytes == 128 << mtu) {
            return mtu;
        }
    }
    return 0;
}

/* Each value is assigned to a narrower field. */
static bool fits(const struct sluice_verbs_path_record *record) {
    return to_mtu(record->mtu_bytes) != 0 && verbs_is_within(record->destination_queue_pair, 0, MAXIMUM_24_BITS)
            && verbs_is_within(record->receive_sequence, 0, MAXIMUM_24_BITS)
            && verbs_is_within(record->max_read_depth_as_target, 0, UINT8_MAX)
            && verbs_is_within(record->minimum_rnr_timer, 0, 31) && verbs_is_within(record->port, 1, UINT8_MAX)
            && verbs_is_within(record->source_gid_index, 0, UINT8_MAX)
            && verbs_is_within(record->hop_limit, 0, UINT8_MAX) && verbs_is_within(record->traffic_class, 0, UINT8_MAX)
            && verbs_is_within(record->service_level, 0, 15) && verbs_is_within(record->destination_lid, 0, UINT16_MAX);
}

static inline bool is_valid(const struct sluice_verbs_work_request *record) {
    return record->queue_pair != 0 && record->length >= 0 && record->opcode <= IBV_WR_ATOMIC_FETCH_AND_ADD
            && (record->flags & ~FLAGS) == 0 && record->pieces >= 0
            && (record->pieces == 0 || record->local_address != 0);
}

/* Sets only the fields of the opcode: a request has 128 bytes, most of them for other kinds of queue pairs. */
static inline void fill(
        struct ibv_send_wr *request, struct ibv_sge *piece, const struct sluice_verbs_work_request *record) {
    if (__builtin_expect(record->pieces == 0, 1)) {
        piece->addr = record->local_address;
        piece->length = (uint32_t)record->length;
        piece->lkey = record->local_key;
        request->sg_list = piece;
        request->num_sge = record->length > 0;
    } else {
        request->sg_list = (struct ibv_sge *)(uintptr_t)record->local_address;
        request->num_sge = record->pieces;
    }
    request->wr_id = record->id;
    request->next = request + 1;
    request->opcode = (enum ibv_wr_opcode)record->opcode;
    request->send_flags = record->flags;
    request->imm_data = htobe32(record->immediate);
    if (record->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
        request->wr.atomic.remote_addr = record->remote_address;
        request->wr.atomic.compare_add = record->operand;
        request->wr.atomic.swap = record->swap;
        request->wr.atomic.rkey = record->remote_key;
    } else {
        request->wr.rdma.remote_addr = record->remote_address;
        request->wr.rdma.rkey = record->remote_key;
    }
}

/* Returns how many requests of a chain were accepted, or -errno if the first was refused. */
static int post_chain(struct ibv_qp *queue_pair, struct ibv_send_wr *chain, int length) {
    chain[length - 1].next = NULL;
    struct ibv_send_wr *refused = NULL;
    int result = ibv_post_send(queue_pair, chain, &refused);
    if (__builtin_expect(result == 0, 1)) {
        return length;
    }
    bool knows = refused > chain && refused < chain + length;
    return knows ? (int)(refused - chain) : verbs_result(result);
}

int64_t sluice_verbs_queue_pair_create(
        void *domain, void *completion_queue, void *receive_queue, int send_depth, int pieces, int inline_bytes) {
    if (domain == NULL || completion_queue == NULL || receive_queue == NULL || send_depth < 1 || pieces < 1
            || inline_bytes < 0) {
        return -EINVAL;
    }
    struct ibv_qp_init_attr attributes = {
        .send_cq = completion_queue,
        .recv_cq = completion_queue,
        .srq = receive_queue,
        .cap =
                {
                    .max_send_wr = (uint32_t)send_depth,
                    .max_send_sge = (uint32_t)pieces,
                    .max_inline_data = (uint32_t)inline_bytes,
                },
        .qp_type = IBV_QPT_RC,
    };
    errno = 0;
    return verbs_handle(verbs.create_qp(domain, &attributes));
}

int sluice_verbs_queue_pair_number(void *queue_pair) {
    return queue_pair == NULL ? -EINVAL : (int)((struct ibv_qp *)queue_pair)->qp_num;
}

int sluice_verbs_queue_pair_send_depth(void *queue_pair) {
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr initial;
    int result = query(queue_pair, IBV_QP_CAP, &attributes, &initial);
    return result < 0 ? result : (int)initial.cap.max_send_wr;
}

int sluice_verbs_queue_pair_inline_bytes(void *queue_pair) {
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr initial;
    int result = query(queue_pair, IBV_QP_CAP, &attributes, &initial);
    return result < 0 ? result : (int)initial.cap.max_inline_data;
}

int sluice_verbs_queue_pair_initialise(void *queue_pair, int port, int partition_key_index, int access) {
    if (queue_pair == NULL || !verbs_is_within(port, 1, UINT8_MAX)
            || !verbs_is_within(partition_key_index, 0, UINT16_MAX) || (access & ~QUEUE_PAIR_ACCESS) != 0) {
        return -EINVAL;
    }
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_INIT,
        .pkey_index = (uint16_t)partition_key_index,
        .port_num = (uint8_t)port,
        .qp_access_flags = (unsigned int)verbs_access(access),
    };
    return modify(queue_pair, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int sluice_verbs_queue_pair_ready_to_receive(void *queue_pair, const struct sluice_verbs_path_record *record) {
    if (queue_pair == NULL || !verbs_is_record(record) || !fits(record)) {
        return -EINVAL;
    }
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = (enum ibv_mtu)to_mtu(record->mtu_bytes),
        .dest_qp_num = (uint32_t)record->destination_queue_pair,
        .rq_psn = (uint32_t)record->receive_sequence,
        .max_dest_rd_atomic = (uint8_t)record->max_read_depth_as_target,
        .min_rnr_timer = (uint8_t)record->minimum_rnr_timer,
        .ah_attr =
                {
                    .dlid = (uint16_t)record->destination_lid,
                    .sl = (uint8_t)record->service_level,
                    .is_global = record->is_global != 0,
                    .port_num = (uint8_t)record->port,
                },
    };
    if (record->is_global != 0) {
        struct ibv_global_route *route = &attributes.ah_attr.grh;
        memcpy(route->dgid.raw, record->destination_gid, sizeof route->dgid.raw);
        route->sgid_index = (uint8_t)record->source_gid_index;
        route->hop_limit = (uint8_t)record->hop_limit;
        route->traffic_class = (uint8_t)record->traffic_class;
    }
    return modify(
            queue_pair, &attributes,
            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC
                    | IBV_QP_MIN_RNR_TIMER);
}

int sluice_verbs_queue_pair_ready_to_send(
        void *queue_pair, int timeout, int retries, int rnr_retries, int send_sequence, int max_read_depth_as_initiator) {
    if (queue_pair == NULL || !verbs_is_within(timeout, 0, 31) || !verbs_is_within(retries, 0, 7)
            || !verbs_is_within(rnr_retries, 0, 7) || !verbs_is_within(send_sequence, 0, MAXIMUM_24_BITS)
            || !verbs_is_within(max_read_depth_as_initiator, 0, UINT8_MAX)) {
        return -EINVAL;
    }
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_RTS,
        .timeout = (uint8_t)timeout,
        .retry_cnt = (uint8_t)retries,
        .rnr_retry = (uint8_t)rnr_retries,
        .sq_psn = (uint32_t)send_sequence,
        .max_rd_atomic = (uint8_t)max_read_depth_as_initiator,
    };
    return modify(
            queue_pair, &attributes,
            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                    | IBV_QP_MAX_QP_RD_ATOMIC);
}

int sluice_verbs_queue_pair_to_error(void *queue_pair) {
    return change_state(queue_pair, IBV_QPS_ERR);
}

int sluice_verbs_queue_pair_to_reset(void *queue_pair) {
    return change_state(queue_pair, IBV_QPS_RESET);
}

int sluice_verbs_queue_pair_state(void *queue_pair) {
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr initial;
    /* Queries the device: the library's copy misses changes made by the adapter itself. */
    int result = query(queue_pair, IBV_QP_STATE, &attributes, &initial);
    return result < 0 ? result : (int)attributes.qp_state;
}

int sluice_verbs_queue_pair_destroy(void *queue_pair) {
    errno = 0;
    return queue_pair == NULL ? -EINVAL : verbs_result(verbs.destroy_qp(queue_pair));
}

int sluice_verbs_queue_pair_post(const struct sluice_verbs_work_request *records, int count) {
    if (!verbs_is_record(records) || count < 1) {
        return -EINVAL;
    }
    struct ibv_send_wr chain[PIECE];
    struct ibv_sge pieces[PIECE];
    int accepted = 0;
    while (accepted < count) {
        const struct sluice_verbs_work_request *first = &records[accepted];
        int limit = count - accepted < PIECE ? count - accepted : PIECE;
        int length = 0;
        while (length < limit && first[length].queue_pair == first->queue_pair && is_valid(&first[length])) {
            fill(&chain[length], &pieces[length], &first[length]);
            length++;
        }
        int result = length == 0
                ? -EINVAL
                : post_chain((struct ibv_qp *)(intptr_t)first->queue_pair, chain, length);
        if (result < 0) {
            return accepted > 0 ? accepted : result;
        }
        accepted += result;
        if (result < length) {
            break;
        }
    }
    return accepted;
}
