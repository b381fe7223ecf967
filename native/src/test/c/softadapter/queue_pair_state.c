#include "adapter.h"

/* Which attributes a change of state needs and allows, as in the InfiniBand specification for reliable connections. */
struct transition {
    bool allowed;
    int required;
    int optional;
};

static const struct transition transitions[IBV_QPS_ERR + 1][IBV_QPS_ERR + 1] = {
    [IBV_QPS_RESET] = {
        [IBV_QPS_RESET] = {.allowed = true},
        [IBV_QPS_INIT] = {
            .allowed = true,
            .required = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        },
    },
    [IBV_QPS_INIT] = {
        [IBV_QPS_RESET] = {.allowed = true},
        [IBV_QPS_ERR] = {.allowed = true},
        [IBV_QPS_INIT] = {
            .allowed = true,
            .optional = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        },
        [IBV_QPS_RTR] = {
            .allowed = true,
            .required = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC
                    | IBV_QP_MIN_RNR_TIMER,
            .optional = IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
        },
    },
    [IBV_QPS_RTR] = {
        [IBV_QPS_RESET] = {.allowed = true},
        [IBV_QPS_ERR] = {.allowed = true},
        [IBV_QPS_RTS] = {
            .allowed = true,
            .required = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                    | IBV_QP_MAX_QP_RD_ATOMIC,
            .optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
        },
    },
    [IBV_QPS_RTS] = {
        [IBV_QPS_RESET] = {.allowed = true},
        [IBV_QPS_ERR] = {.allowed = true},
        [IBV_QPS_RTS] = {
            .allowed = true,
            .optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
        },
    },
    [IBV_QPS_ERR] = {
        [IBV_QPS_RESET] = {.allowed = true},
        [IBV_QPS_ERR] = {.allowed = true},
    },
};

static bool transition_allowed(int from, const struct ibv_qp_attr *attributes, int mask) {
    int to = mask & IBV_QP_STATE ? (int)attributes->qp_state : from;
    if (to < IBV_QPS_RESET || to > IBV_QPS_ERR) {
        return false;
    }
    if ((mask & IBV_QP_CUR_STATE) && (int)attributes->cur_qp_state != from) {
        return false;
    }
    const struct transition *transition = &transitions[from][to];
    return transition->allowed && (mask & transition->required) == transition->required
            && (mask & ~(transition->required | transition->optional | IBV_QP_STATE)) == 0;
}

static bool address_valid(const struct ibv_ah_attr *address) {
    /* There is no other way over Ethernet than by a GID. */
    return address->is_global && address->port_num == PORT && address->grh.sgid_index < GIDS;
}

static bool values_valid(const struct ibv_qp_attr *attributes, int mask) {
    const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
            | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
    return !((mask & IBV_QP_PKEY_INDEX) && attributes->pkey_index != 0)
            && !((mask & IBV_QP_PORT) && attributes->port_num != PORT)
            && !((mask & IBV_QP_ACCESS_FLAGS) && (attributes->qp_access_flags & ~(unsigned int)rights))
            && !((mask & IBV_QP_AV) && !address_valid(&attributes->ah_attr))
            && !((mask & IBV_QP_PATH_MTU)
                    && (attributes->path_mtu < IBV_MTU_256 || attributes->path_mtu > IBV_MTU_4096))
            && !((mask & IBV_QP_DEST_QPN) && attributes->dest_qp_num > SEQUENCE_MASK)
            && !((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attributes->max_dest_rd_atomic > MAXIMUM_READ_DEPTH)
            && !((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attributes->max_rd_atomic > MAXIMUM_READ_DEPTH)
            && !((mask & IBV_QP_MIN_RNR_TIMER) && attributes->min_rnr_timer > 31)
            && !((mask & IBV_QP_TIMEOUT) && attributes->timeout > 31)
            && !((mask & IBV_QP_RETRY_CNT) && attributes->retry_cnt > 7)
            && !((mask & IBV_QP_RNR_RETRY) && attributes->rnr_retry > 7);
}

static void take_over(struct queue_pair *pair, const struct ibv_qp_attr *attributes, int mask) {
    struct ibv_qp_attr *own = &pair->attributes;
#define TAKE(flag, field) \
    if (mask & (flag)) { \
        own->field = attributes->field; \
    }
    TAKE(IBV_QP_PKEY_INDEX, pkey_index)
    TAKE(IBV_QP_PORT, port_num)
    TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags)
    TAKE(IBV_QP_AV, ah_attr)
    TAKE(IBV_QP_PATH_MTU, path_mtu)
    TAKE(IBV_QP_DEST_QPN, dest_qp_num)
    TAKE(IBV_QP_RQ_PSN, rq_psn)
    TAKE(IBV_QP_SQ_PSN, sq_psn)
    TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
    TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)
    TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)
    TAKE(IBV_QP_TIMEOUT, timeout)
    TAKE(IBV_QP_RETRY_CNT, retry_cnt)
    TAKE(IBV_QP_RNR_RETRY, rnr_retry)
#undef TAKE
    if (mask & IBV_QP_RQ_PSN) {
        pair->receive_sequence = attributes->rq_psn & SEQUENCE_MASK;
    }
    if (mask & IBV_QP_SQ_PSN) {
        pair->send_sequence = attributes->sq_psn & SEQUENCE_MASK;
    }
    if (mask & IBV_QP_AV) {
        pair->peer_device = device_with_gid(&attributes->ah_attr.grh.dgid, &pair->peer_gid_index);
    }
}

/* Puts a queue pair into its first state. Completions that were not polled are gone too. */
static void reset(struct queue_pair *pair) {
    worker_forget(pair);
    atomic_store(&pair->scheduled, false);
    if (pair->receiving) {
        atomic_fetch_add(&pair->receives->released, 1);
        pair->receiving = false;
    }
    completion_queue_forget(pair->base.send_cq, pair);
    completion_queue_forget(pair->base.recv_cq, pair);
    atomic_store(&pair->posted, 0);
    atomic_store(&pair->released, 0);
    receive_queue_clear(&pair->own_receives);
    pair->next = 0;
    pair->unanswered = 0;
    pair->answer_retries = 0;
    pair->answers_held = false;
    pair->failed_at = 0;
    pair->failed_as = IBV_WC_SUCCESS;
    pair->offset = 0;
    pair->started = 0;
    pair->delayed = false;
    pair->resume = 0;
    pair->retries = 0;
    pair->receiver_retries = 0;
    pair->established = false;
    pair->drained = false;
    pair->peer_device = NULL;
    memset(&pair->attributes, 0, sizeof pair->attributes);
}

static int modify(struct queue_pair *pair, const struct ibv_qp_attr *attributes, int mask) {
    int from = atomic_load(&pair->state);
    if (!transition_allowed(from, attributes, mask) || !values_valid(attributes, mask)) {
        return EINVAL;
    }
    int to = mask & IBV_QP_STATE ? (int)attributes->qp_state : from;
    if (context_of(pair->base.context)->dead && to != IBV_QPS_RESET && to != IBV_QPS_ERR) {
        return EIO;
    }
    take_over(pair, attributes, mask);
    pthread_mutex_lock(&pair->lock);
    atomic_store(&pair->state, to);
    if (to == IBV_QPS_RESET) {
        reset(pair);
    }
    pthread_mutex_unlock(&pair->lock);
    if (to == IBV_QPS_RTS || to == IBV_QPS_ERR) {
        worker_schedule(pair);
    }
    return 0;
}

EXPORT int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attributes, int mask) {
    /* A piece of work under way ends first, so what a changed queue pair may not touch any more is not touched. */
    world_write();
    int result = modify(queue_pair_of(base), attributes, mask);
    if (result == 0 && (mask & IBV_QP_STATE)) {
        base->state = attributes->qp_state;
    }
    world_release();
    return result;
}
