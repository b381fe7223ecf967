/* The structures of collectives.cu and its header, with addresses of devices as numbers: for the twins, and for programs that launch the kernels. */
#ifndef COLLECTIVE_PARAMETERS_H
#define COLLECTIVE_PARAMETERS_H

#include <stdint.h>

#define MOST_RANKS 64
#define MOST_BLOCKS 256
#define FLAGS_BYTES (2u * MOST_BLOCKS * MOST_RANKS * sizeof(uint64_t))
#define SIGNATURE_BITS 16
#define DIFFERS (UINT64_C(1) << 32)

struct progress {
    uint64_t generation;
    uint32_t blocks;
    uint32_t failed;
    uint64_t asked_at;
};

struct words {
    uint64_t is_revoked;
    uint64_t failure;
};

struct team {
    uint64_t scratch[MOST_RANKS];
    uint64_t state;
    uint64_t host;
    uint64_t slot_bytes;
    uint64_t push_slot_bytes;
    uint64_t patience;
    uint32_t rank;
    uint32_t ranks;
};

struct exchange {
    uint64_t in;
    uint64_t out;
    uint64_t in_stride;
    uint64_t out_stride;
    uint64_t bytes;
    uint64_t senders;
    uint64_t receivers;
    uint32_t operation;
    uint32_t signature;
};

struct reduction {
    uint64_t in[MOST_RANKS];
    uint64_t out[MOST_RANKS];
    uint64_t bytes;
    uint32_t operation;
    uint32_t signature;
    uint64_t is_aligned;
};

struct copies {
    uint64_t from[MOST_RANKS];
    uint64_t to[MOST_RANKS];
    uint64_t bytes[MOST_RANKS];
    uint64_t signature;
};

#endif
