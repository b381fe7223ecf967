/* Waits and words of the twins of the kernels of experts, and the twins of buffer.cu. */
#include "experts.h"

#include <string.h>
#include <time.h>

#define SIGNATURE_BITS 16

/* In an operation's words: when it began to wait, and a bit for each rank that was seen to have left. */
enum own { BEGAN, LEFT_SEEN };

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct expert_state *expert_state_of(int ordinal, const struct expert_buffer *buffer) {
    return reach(ordinal, buffer->state, sizeof(struct expert_state));
}

/* Tells other ranks that this one makes no more calls, as a rank is lost. */
static bool leave_all(int ordinal, const struct expert_buffer *buffer, uint32_t lost) {
    bool is_good = true;
    for (unsigned peer = 0; is_good && peer < buffer->ranks; peer++) {
        is_good = peer == buffer->rank || buffer->windows[peer] == 0
                || expert_store(ordinal, buffer->windows[peer] + buffer->rank * sizeof(uint64_t), (uint64_t)lost + 1);
    }
    return is_good;
}

bool expert_fail(
        int ordinal, const struct expert_buffer *buffer, enum expert_failure kind, unsigned rank, uint64_t token,
        uint64_t expert) {
    struct expert_state *state = expert_state_of(ordinal, buffer);
    struct expert_words *host = reach(ordinal, buffer->host, sizeof *host);
    if (state == NULL || host == NULL) {
        return false;
    }
    if (!state->failed) {
        state->failed = 1;
        host->token = token;
        host->expert = expert;
        __atomic_store_n(&host->failure, (uint64_t)kind << 32 | (rank + 1), __ATOMIC_RELEASE);
        return kind != EXPERT_LEFT || leave_all(ordinal, buffer, rank);
    }
    return true;
}

uint64_t expert_signal(uint64_t generation, uint32_t signature) {
    return generation << SIGNATURE_BITS | (signature & ((1u << SIGNATURE_BITS) - 1));
}

bool expert_store(int ordinal, uint64_t address, uint64_t value) {
    uint64_t *word = reach(ordinal, address, sizeof *word);
    if (word == NULL) {
        return false;
    }
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    return true;
}

enum step expert_await(
        int ordinal, const struct expert_buffer *buffer, uint64_t *own, uint64_t signal, uint64_t value, unsigned rank,
        uint64_t patience) {
    const uint64_t *word = reach(ordinal, signal, sizeof *word);
    const struct expert_words *host = reach(ordinal, buffer->host, sizeof *host);
    const uint64_t *left = reach(ordinal, buffer->windows[buffer->rank], EXPERT_RANKS * sizeof *left);
    if (word == NULL || host == NULL || left == NULL) {
        return STEP_FAILED;
    }
    uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (seen >> SIGNATURE_BITS >= value >> SIGNATURE_BITS) {
        if (seen >> SIGNATURE_BITS == value >> SIGNATURE_BITS && seen != value) {
            expert_fail(ordinal, buffer, EXPERT_DIFFERS, rank, 0, 0);
            return STEP_FAILED;
        }
        return STEP_DONE;
    }
    uint64_t now = nanoseconds();
    if (own[BEGAN] == 0) {
        own[BEGAN] = now;
    }
    uint64_t lost = __atomic_load_n(&left[rank], __ATOMIC_ACQUIRE);
    if (lost != 0) {
        if ((own[LEFT_SEEN] & 1ull << rank) == 0) {
            own[LEFT_SEEN] |= 1ull << rank;
            return STEP_AGAIN;
        }
        expert_fail(ordinal, buffer, EXPERT_LEFT, (unsigned)lost - 1, 0, 0);
        return STEP_FAILED;
    }
    if (now - own[BEGAN] < patience && __atomic_load_n(&host->is_revoked, __ATOMIC_ACQUIRE) == 0) {
        return STEP_AGAIN;
    }
    expert_fail(ordinal, buffer, EXPERT_MISSING, rank, 0, 0);
    return STEP_FAILED;
}

static bool leave(int ordinal, const uint8_t *arguments) {
    struct expert_buffer buffer;
    uint32_t lost;
    memcpy(&buffer, arguments, sizeof buffer);
    memcpy(&lost, arguments + sizeof buffer, sizeof lost);
    return leave_all(ordinal, &buffer, lost);
}

const struct twin expert_twins[] = {
    {.name = "sluice_experts_leave", .arguments = {sizeof(struct expert_buffer), sizeof(uint32_t)}, .run = leave},
    {.name = NULL},
};
