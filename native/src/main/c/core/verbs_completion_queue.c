#include "verbs_library.h"

#include <endian.h>

/* The most completions taken from the adapter in one call, and so on the stack. */
#define PIECE 32

_Static_assert(sizeof(struct sluice_verbs_completion) == 32, "VerbsCompletionQueue.RECORD_BYTES");

/* Adapters fill in only the fields of a completion's kind; the others keep old bytes of the stack. */

static inline bool is_receive(enum ibv_wc_opcode opcode) {
    return opcode == IBV_WC_RECV || opcode == IBV_WC_RECV_RDMA_WITH_IMM;
}

static inline bool has_bytes(enum ibv_wc_opcode opcode) {
    return is_receive(opcode) || opcode == IBV_WC_RDMA_READ || opcode == IBV_WC_COMP_SWAP
            || opcode == IBV_WC_FETCH_ADD;
}

static inline void copy(struct sluice_verbs_completion *record, const struct ibv_wc *completion) {
    record->id = completion->wr_id;
    record->status = (int32_t)completion->status;
    record->queue_pair_number = completion->qp_num;
    if (__builtin_expect(completion->status == IBV_WC_SUCCESS, 1)) {
        enum ibv_wc_opcode opcode = completion->opcode;
        bool immediate = is_receive(opcode) && (completion->wc_flags & IBV_WC_WITH_IMM) != 0;
        record->vendor_error = 0;
        record->bytes = has_bytes(opcode) ? completion->byte_len : 0;
        record->opcode = (int32_t)opcode;
        record->immediate = immediate ? be32toh(completion->imm_data) : 0;
    } else {
        record->vendor_error = completion->vendor_err;
        record->bytes = 0;
        record->opcode = 0;
        record->immediate = 0;
    }
}

int64_t sluice_verbs_channel_create(void *device) {
    if (device == NULL) {
        return -EINVAL;
    }
    errno = 0;
    struct ibv_comp_channel *channel = verbs.create_comp_channel(device);
    int64_t result = verbs_handle(channel);
    if (result < 0) {
        return result;
    }
    int error = verbs_set_non_blocking(channel->fd);
    if (error < 0) {
        verbs.destroy_comp_channel(channel);
        return error;
    }
    return result;
}

int sluice_verbs_channel_descriptor(void *channel) {
    return channel == NULL ? -EINVAL : ((struct ibv_comp_channel *)channel)->fd;
}

int sluice_verbs_channel_destroy(void *channel) {
    errno = 0;
    return channel == NULL ? -EINVAL : verbs_result(verbs.destroy_comp_channel(channel));
}

int64_t sluice_verbs_completion_queue_create(void *device, int entries, void *channel) {
    if (device == NULL || entries < 1) {
        return -EINVAL;
    }
    errno = 0;
    return verbs_handle(verbs.create_cq(device, entries, NULL, channel, 0));
}

int sluice_verbs_completion_queue_entries(void *queue) {
    return queue == NULL ? -EINVAL : ((struct ibv_cq *)queue)->cqe;
}

int sluice_verbs_completion_queue_destroy(void *queue) {
    errno = 0;
    return queue == NULL ? -EINVAL : verbs_result(verbs.destroy_cq(queue));
}

int sluice_verbs_completion_queue_poll(void *queue, struct sluice_verbs_completion *records, int maximum) {
    if (queue == NULL || !verbs_is_record(records) || maximum < 1) {
        return -EINVAL;
    }
    struct ibv_wc completions[PIECE];
    int count = 0;
    while (count < maximum) {
        int wanted = maximum - count < PIECE ? maximum - count : PIECE;
        int found = ibv_poll_cq(queue, wanted, completions);
        if (found < 0) {
            /*
             * Drivers return error numbers of their own here. Earlier completions are returned first; the queue stays
             * failed.
             */
            return count > 0 ? count : -EIO;
        }
        for (int i = 0; i < found; i++) {
            copy(&records[count + i], &completions[i]);
        }
        count += found;
        if (found < wanted) {
            break;
        }
    }
    return count;
}

int sluice_verbs_completion_queue_request_notification(void *queue) {
    errno = 0;
    return queue == NULL ? -EINVAL : verbs_result(ibv_req_notify_cq(queue, 0));
}

int sluice_verbs_completion_queue_take_events(void *channel, void *queue) {
    if (channel == NULL || queue == NULL) {
        return -EINVAL;
    }
    int count = 0;
    int result;
    do {
        struct ibv_cq *source = NULL;
        void *context = NULL;
        errno = 0;
        result = verbs_result(verbs.get_cq_event(channel, &source, &context));
        if (result == 0 && source == queue) {
            count++;
        } else if (result == 0) {
            verbs.ack_cq_events(source, 1);
        }
    } while (result == 0 || result == -EINTR);
    /* All at once: each acknowledgement takes a lock. */
    if (count > 0) {
        verbs.ack_cq_events(queue, (unsigned int)count);
    }
    return result == -EAGAIN || count > 0 ? count : result;
}

const char *sluice_verbs_status_text(int status) {
    if (!sluice_verbs_loaded() || status < 0) {
        return "unknown";
    }
    const char *text = verbs.wc_status_str((enum ibv_wc_status)status);
    return text == NULL ? "unknown" : text;
}
