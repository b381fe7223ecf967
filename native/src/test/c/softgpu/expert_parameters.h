/* The structures of experts.cuh, with addresses of devices as numbers: for the twins, and for programs that launch the kernels. */
#ifndef EXPERT_PARAMETERS_H
#define EXPERT_PARAMETERS_H

#include <stdint.h>

#define EXPERT_RANKS 64

enum expert_failure {
    EXPERT_MISSING,
    EXPERT_DIFFERS,
    EXPERT_LEFT,
    EXPERT_NO_EXPERT,
    EXPERT_NAMED_TWICE,
    EXPERT_NOT_DISPATCHED,
    EXPERT_OVERFULL,
    EXPERT_NOT_PREPARED
};

struct expert_words {
    uint64_t is_revoked;
    uint64_t failure;
    uint64_t token;
    uint64_t expert;
};

struct expert_state {
    uint64_t asked_at;
    uint32_t blocks;
    uint32_t failed;
};

struct expert_buffer {
    uint64_t windows[EXPERT_RANKS];
    uint64_t state;
    uint64_t host;
    uint32_t rank;
    uint32_t ranks;
};

/* At the beginning of each rank's window. */
struct expert_window {
    uint64_t left[EXPERT_RANKS];
    struct expert_state state;
};

enum format { BF16, FP8, FP8_ROUNDED, FP8_UE8M0 };

#endif
