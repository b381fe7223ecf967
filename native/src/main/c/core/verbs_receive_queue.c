#include "verbs_library.h"

/* The most requests passed to the adapter in one call, and so on the stack. */
#define PIECE 64

_Static_assert(sizeof(struct sluice_verbs_receive_request) == 32, "VerbsReceiveQueue.RECORD_BYTES");

static inline bool fill(
        struct ibv_recv_wr *request, struct ibv_sge *piece, const struct sluice_verbs_receive_request *record) {
    if (record->length < 0) {
        return false;
    }
    piece->addr = record->address;
    piece->length = (uint32_t)record->length;
    piece->lkey = record->local_key;
    request->wr_id = record->id;
    request->next = request + 1;
    request->sg_list = piece;
    request->num_sge = record->length > 0;
    return true;
}

/* Returns how many requests of a chain were accepted, or -errno if the first was refused. */
static int post_chain(struct ibv_srq *queue, struct ibv_recv_wr *chain, int length) {
    chain[length - 1].next = NULL;
    struct ibv_recv_wr *refused = NULL;
    int result = ibv_post_srq_recv(queue, chain, &refused);
    if (__builtin_expect(result == 0, 1)) {
        return length;
    }
    bool knows = refused > chain && refused < chain + length;
    return knows ? (int)(refused - chain) : verbs_result(result);
}

int64_t sluice_verbs_receive_queue_create(void *domain, int work_requests) {
    if (domain == NULL || work_requests < 1) {
        return -EINVAL;
    }
    struct ibv_srq_init_attr attributes = {.attr = {.max_wr = (uint32_t)work_requests, .max_sge = 1}};
    errno = 0;
    return verbs_handle(verbs.create_srq(domain, &attributes));
}

int sluice_verbs_receive_queue_depth(void *queue) {
    if (queue == NULL) {
        return -EINVAL;
    }
    struct ibv_srq_attr attributes = {0};
    errno = 0;
    int result = verbs_result(verbs.query_srq(queue, &attributes));
    return result < 0 ? result : (int)attributes.max_wr;
}

int sluice_verbs_receive_queue_post(void *queue, const struct sluice_verbs_receive_request *records, int count) {
    if (queue == NULL || !verbs_is_record(records) || count < 1) {
        return -EINVAL;
    }
    struct ibv_recv_wr chain[PIECE];
    struct ibv_sge pieces[PIECE];
    int accepted = 0;
    while (accepted < count) {
        int limit = count - accepted < PIECE ? count - accepted : PIECE;
        int length = 0;
        while (length < limit && fill(&chain[length], &pieces[length], &records[accepted + length])) {
            length++;
        }
        int result = length == 0 ? -EINVAL : post_chain(queue, chain, length);
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

int sluice_verbs_receive_queue_destroy(void *queue) {
    errno = 0;
    return queue == NULL ? -EINVAL : verbs_result(verbs.destroy_srq(queue));
}
