#include "adapter.h"

/*
 * The answers to the source of a request. Answers come in order, and one answers for all before it. Requests from
 * "unanswered" to "next" have been carried out at the target, but no answer has come: the fault of
 * soft_adapter_lose_answers, or of soft_adapter_hold_answers.
 */

#define TIMEOUT_UNIT_NANOS UINT64_C(4096)

static enum ibv_wc_opcode completed_as(enum ibv_wr_opcode opcode) {
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
        return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_WC_FETCH_ADD;
    default:
        return IBV_WC_SEND;
    }
}

/* Ends the oldest request that has not been ended. */
static bool end_one(struct queue_pair *pair, enum ibv_wc_status status) {
    const struct send_request *request = send_request_at(pair, pair->unanswered);
    pair->unanswered++;
    if (status == IBV_WC_SUCCESS && !(request->flags & IBV_SEND_SIGNALED)) {
        return true;
    }
    struct completion completion = {
        .id = request->id,
        .status = status,
        .opcode = completed_as(request->opcode),
        .bytes = (uint32_t)request->length,
        .pair = pair,
        .send_end = pair->unanswered,
    };
    return completion_queue_put(pair->base.send_cq, &completion, false);
}

static void end_all(struct queue_pair *pair) {
    pair->answer_retries = 0;
    pair->answers_held = false;
    while (pair->unanswered != pair->next) {
        if (!end_one(pair, IBV_WC_SUCCESS)) {
            queue_pair_break(pair, IBV_EVENT_QP_FATAL);
            return;
        }
    }
}

/* To the next request. */
static void go_on(struct queue_pair *pair) {
    pair->next++;
    pair->offset = 0;
    pair->started = 0;
    pair->delayed = false;
    pair->resume = 0;
    pair->retries = 0;
    pair->receiver_retries = 0;
}

static bool loses_answers(const struct queue_pair *pair) {
    return atomic_load(&pair->device->loses_answers);
}

static uint64_t held_for(const struct queue_pair *pair) {
    return atomic_load(&pair->device->holds_answers);
}

uint64_t answers_timeout_nanos(const struct queue_pair *pair) {
    uint8_t code = pair->attributes.timeout;
    return code == 0 ? NEVER : TIMEOUT_UNIT_NANOS << code;
}

static void await_answer(struct queue_pair *pair) {
    uint64_t timeout = answers_timeout_nanos(pair);
    pair->answer_due = timeout == NEVER ? NEVER : now_nanos() + timeout;
    worker_schedule_at(pair, pair->answer_due);
}

void answers_done(struct queue_pair *pair) {
    bool first = pair->unanswered == pair->next;
    go_on(pair);
    if (held_for(pair) > 0) {
        pair->answers_held = true;
        worker_schedule_at(pair, NEVER);
    } else if (!loses_answers(pair)) {
        end_all(pair);
    } else if (first) {
        await_answer(pair);
    }
    /* Last, so that who sees the count finds the completion. */
    COUNT(executed, 1);
}

void answers_failed(struct queue_pair *pair, enum ibv_wc_status status) {
    if (held_for(pair) > 0) {
        pair->failed_as = status;
        queue_pair_fail(pair);
        return;
    }
    bool open = pair->unanswered != pair->next;
    if (open && (status == IBV_WC_RETRY_EXC_ERR || loses_answers(pair))) {
        /* The oldest one without an answer fails; the flush takes the others. */
        status = IBV_WC_RETRY_EXC_ERR;
    } else {
        end_all(pair);
    }
    /* First: the reader of the completion must find the queue pair in the error state. */
    queue_pair_fail(pair);
    end_one(pair, status);
}

bool answers_are_held(struct queue_pair *pair) {
    uint64_t held = held_for(pair);
    uint64_t now = now_nanos();
    if (pair->failed_at == 0) {
        pair->failed_at = now;
    }
    if (held > 0 && now < pair->failed_at + held) {
        worker_schedule_at(pair, pair->failed_at + held);
        return true;
    }
    if (pair->answers_held) {
        end_all(pair);
    }
    if (pair->failed_as != IBV_WC_SUCCESS) {
        end_one(pair, pair->failed_as);
        pair->failed_as = IBV_WC_SUCCESS;
    }
    return false;
}

void answers_flush(struct queue_pair *pair) {
    uint64_t posted = atomic_load(&pair->posted);
    while (pair->unanswered != posted) {
        end_one(pair, IBV_WC_WR_FLUSH_ERR);
    }
    pair->next = posted;
    pair->offset = 0;
}

void answers_check(struct queue_pair *pair) {
    if (pair->unanswered == pair->next) {
        return;
    }
    if (held_for(pair) > 0) {
        worker_schedule_at(pair, NEVER);
    } else if (!pair->answers_held && now_nanos() < pair->answer_due) {
        worker_schedule_at(pair, pair->answer_due);
    } else if (pair->answers_held || !loses_answers(pair)) {
        /* The target answers what it has already carried out. */
        end_all(pair);
    } else if (pair->answer_retries++ < pair->attributes.retry_cnt) {
        COUNT(retries, 1);
        await_answer(pair);
    } else {
        answers_failed(pair, IBV_WC_RETRY_EXC_ERR);
    }
}
