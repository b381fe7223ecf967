/* Launches the kernels of collectives, with numbers that all types of elements can express, also their sums and products. */
#include "collective_parameters.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 512
/* Of a message, without its flags. */
#define EXCHANGE_BYTES 8192
#define PUSH_BYTES 65536
#define ELEMENTS 1001
#define MANY_ELEMENTS 70001
#define COPIED_BYTES 300001
#define EXCHANGE_BLOCKS 3
#define BLOCKS 6
#define NAME_BYTES 64
#define ALL_RANKS UINT64_C(3)

enum operation { SUM = 1, PRODUCT, MIN, MAX, AVERAGE };

static const struct {
    const char *name;
    size_t bytes;
    bool is_integer;
} types[] = {
    {"int8", 1, true},    {"uint8", 1, true},     {"int32", 4, true},    {"uint32", 4, true},  {"int64", 8, true},
    {"uint64", 8, true},  {"float16", 2, false},  {"bfloat16", 2, false}, {"float32", 4, false}, {"float64", 8, false},
};

#define TYPES (sizeof types / sizeof *types)

const char *const module_files[] = {"collectives.ptx", NULL};

/* A rank, with what all of its launches have in common. */
struct member {
    struct rank *rank;
    struct team team;
    struct words *words;
    unsigned launches;
    cuda_address in;
    cuda_address out;
    cuda_address all_in[RANKS];
    cuda_address all_out[RANKS];
    uint8_t *expected;
};

#define MOST_BYTES (MANY_ELEMENTS * sizeof(uint64_t) + 2 * COPIED_BYTES)

static void form(struct member *member, struct rank *rank) {
    cuda_address host;
    uint64_t slot_bytes = 2 * EXCHANGE_BYTES;
    uint64_t push_slot_bytes = PUSH_BYTES;
    uint64_t state_at = FLAGS_BYTES + 2 * RANKS * (slot_bytes + push_slot_bytes);
    member->rank = rank;
    member->words = host_memory(rank, sizeof *member->words, &host);
    cuda_address scratch = device_memory(rank, state_at + sizeof(struct progress));
    member->team = (struct team){
        .state = scratch + state_at,
        .host = host,
        .slot_bytes = slot_bytes,
        .push_slot_bytes = push_slot_bytes,
        .patience = patience(),
        .rank = number_of(rank),
        .ranks = RANKS,
    };
    share(rank, scratch, member->team.scratch);
    member->in = device_memory(rank, MOST_BYTES);
    member->out = device_memory(rank, MOST_BYTES);
    share(rank, member->in, member->all_in);
    share(rank, member->out, member->all_out);
    member->expected = malloc(MOST_BYTES);
    if (member->expected == NULL) {
        fail(rank, "no memory");
    }
}

static void start(struct member *member, const char *kernel, unsigned blocks, const void *what, size_t bytes) {
    spoil(member->rank, member->out, MOST_BYTES);
    struct parameter parameters[] = {{what, bytes}, {&member->team, sizeof member->team}, {NULL, 0}};
    launch(member->rank, kernel, blocks, THREADS, 0, parameters);
    await(member->rank, kernel);
    uint64_t failure = __atomic_load_n(&member->words->failure, __ATOMIC_ACQUIRE);
    if (failure != 0) {
        fail(member->rank, "%s: rank %u %s", kernel, (unsigned)failure - 1,
                failure & DIFFERS ? "has called something else" : "has not come: do its kernels run at the same time?");
    }
}

/* The same on both ranks. */
static uint32_t signature(struct member *member) {
    return ++member->launches * 77u;
}

/* ---- elements ---- */

static double number(unsigned rank, size_t at) {
    return mixed(rank, (uint32_t)at, 5) % 5 + 1;
}

static void encode(uint8_t *to, size_t type, double value) {
    uint64_t bits = (uint64_t)value;
    if (strcmp(types[type].name, "float64") == 0) {
        memcpy(&bits, &value, sizeof bits);
    } else if (strcmp(types[type].name, "float32") == 0) {
        bits = bits_of((float)value);
    } else if (strcmp(types[type].name, "bfloat16") == 0) {
        bits = bits_of((float)value) >> 16;
    } else if (strcmp(types[type].name, "float16") == 0) {
        /* of other exponents, and 13 bits fewer */
        bits = (bits_of((float)value) - ((127u - 15) << 23)) >> 13;
    }
    memcpy(to, &bits, types[type].bytes);
}

static double reduced(unsigned operation, size_t type, size_t at) {
    double first = number(0, at);
    double second = number(1, at);
    switch (operation) {
        case PRODUCT:
            return first * second;
        case MIN:
            return first < second ? first : second;
        case MAX:
            return first < second ? second : first;
        case AVERAGE:
            return types[type].is_integer ? (double)((int)(first + second) / RANKS) : (first + second) / RANKS;
        default:
            return first + second;
    }
}

static void fill(struct member *member, size_t type, size_t count) {
    uint8_t *numbers = member->expected;
    for (size_t i = 0; i < count; i++) {
        encode(numbers + i * types[type].bytes, type, number(number_of(member->rank), i));
    }
    put(member->rank, member->in, numbers, count * types[type].bytes);
}

static void expect_reduced(
        struct member *member, cuda_address at, unsigned operation, size_t type, size_t first, size_t count,
        const char *what) {
    for (size_t i = 0; i < count; i++) {
        encode(member->expected + i * types[type].bytes, type, reduced(operation, type, first + i));
    }
    expect(member->rank, at, member->expected, count * types[type].bytes, what);
}

/* Of an all-reduce of few elements, and of a reduce-scatter of them. */
static void exchange_reduced(struct member *member, size_t type, unsigned operation) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "sluice_exchange_%s", types[type].name);
    fill(member, type, 2 * ELEMENTS);
    struct exchange what = {
        .in = member->in,
        .out = member->out,
        .bytes = ELEMENTS * types[type].bytes,
        .senders = ALL_RANKS,
        .receivers = ALL_RANKS,
        .operation = operation,
        .signature = signature(member),
    };
    start(member, name, EXCHANGE_BLOCKS, &what, sizeof what);
    expect_reduced(member, member->out, operation, type, 0, ELEMENTS, name);
    what.in_stride = what.bytes;
    what.signature = signature(member);
    start(member, name, EXCHANGE_BLOCKS, &what, sizeof what);
    expect_reduced(member, member->out, operation, type, number_of(member->rank) * ELEMENTS, ELEMENTS, name);
}

/* As exchange_reduced, by pushes. The target of rank 1 is not aligned, so that one rank takes whole vectors and the other one bytes. */
static void push_reduced(struct member *member, size_t type, unsigned operation, size_t count) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "sluice_push_%s", types[type].name);
    fill(member, type, 2 * count);
    unsigned own = number_of(member->rank);
    struct exchange what = {
        .in = member->in,
        .out = member->out + own * types[type].bytes,
        .bytes = count * types[type].bytes,
        .senders = ALL_RANKS,
        .receivers = ALL_RANKS,
        .operation = operation,
        .signature = signature(member),
    };
    start(member, name, EXCHANGE_BLOCKS, &what, sizeof what);
    expect_reduced(member, what.out, operation, type, 0, count, name);
    what.in_stride = what.bytes;
    what.signature = signature(member);
    start(member, name, EXCHANGE_BLOCKS, &what, sizeof what);
    expect_reduced(member, what.out, operation, type, own * count, count, name);
}

/* Of an all-reduce, in which each rank has its half of the elements. */
static void reduce(struct member *member, size_t type, unsigned operation, bool is_aligned) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "sluice_reduce_%s", types[type].name);
    fill(member, type, MANY_ELEMENTS);
    size_t half = MANY_ELEMENTS / RANKS / 16 * 16;
    size_t first = number_of(member->rank) * half;
    size_t count = first == 0 ? half : MANY_ELEMENTS - half;
    struct reduction what = {
        .bytes = count * types[type].bytes,
        .operation = operation,
        .signature = signature(member),
        .is_aligned = is_aligned,
    };
    for (unsigned peer = 0; peer < RANKS; peer++) {
        what.in[peer] = member->all_in[peer] + first * types[type].bytes;
        what.out[peer] = member->all_out[peer] + first * types[type].bytes;
    }
    start(member, name, BLOCKS, &what, sizeof what);
    expect_reduced(member, member->out, operation, type, 0, MANY_ELEMENTS, name);
}

/* ---- bytes ---- */

static uint8_t byte_of(unsigned rank, size_t at) {
    return (uint8_t)mixed(rank, (uint32_t)at, 11);
}

static void fill_bytes(struct member *member, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        member->expected[i] = byte_of(number_of(member->rank), i);
    }
    put(member->rank, member->in, member->expected, bytes);
}

/* All-to-all if `strides`, else a broadcast of rank 1; without bytes a barrier. */
static void exchange_bytes(struct member *member, size_t bytes, bool strides) {
    unsigned own = number_of(member->rank);
    fill_bytes(member, RANKS * bytes + 1);
    struct exchange what = {
        .in = member->in,
        .out = member->out,
        .in_stride = strides ? bytes : 0,
        .out_stride = strides ? bytes : 0,
        .bytes = bytes,
        .senders = strides ? ALL_RANKS : 2,
        .receivers = ALL_RANKS,
        .signature = signature(member),
    };
    start(member, "sluice_exchange", EXCHANGE_BLOCKS, &what, sizeof what);
    for (size_t i = 0; i < (strides ? RANKS * bytes : bytes); i++) {
        member->expected[i] = strides ? byte_of((unsigned)(i / bytes), own * bytes + i % bytes) : byte_of(1, i);
    }
    expect(member->rank, member->out, member->expected, strides ? RANKS * bytes : bytes, "sluice_exchange");
}

/* All-gather; what comes from a rank lies `apart` bytes beyond what it would fill. */
static void copy_to_ranks(struct member *member, size_t apart) {
    unsigned own = number_of(member->rank);
    fill_bytes(member, COPIED_BYTES);
    struct copies what = {.signature = signature(member)};
    for (unsigned peer = 0; peer < RANKS; peer++) {
        what.from[peer] = member->in;
        what.to[peer] = member->all_out[peer] + own * (COPIED_BYTES + apart);
        what.bytes[peer] = COPIED_BYTES;
    }
    start(member, "sluice_copy_to_ranks", BLOCKS, &what, sizeof what);
    for (unsigned peer = 0; peer < RANKS; peer++) {
        for (size_t i = 0; i < COPIED_BYTES; i++) {
            member->expected[i] = byte_of(peer, i);
        }
        expect(member->rank, member->out + peer * (COPIED_BYTES + apart), member->expected, COPIED_BYTES,
                "sluice_copy_to_ranks");
    }
}

void run_rank(struct rank *rank) {
    struct member member = {0};
    form(&member, rank);
    exchange_bytes(&member, 0, true);
    exchange_bytes(&member, ELEMENTS, true);
    exchange_bytes(&member, ELEMENTS, false);
    exchange_bytes(&member, EXCHANGE_BYTES / 2, true);
    copy_to_ranks(&member, 0);
    copy_to_ranks(&member, 16 - COPIED_BYTES % 16);
    for (size_t type = 0; type < TYPES; type++) {
        for (unsigned operation = SUM; operation <= AVERAGE; operation++) {
            exchange_reduced(&member, type, operation);
        }
        push_reduced(&member, type, SUM + (unsigned)(type + 1) % AVERAGE, ELEMENTS);
        push_reduced(&member, type, SUM + (unsigned)(type + 3) % AVERAGE, PUSH_BYTES / types[type].bytes);
        reduce(&member, type, SUM + (unsigned)type % AVERAGE, true);
        reduce(&member, type, SUM + (unsigned)(type + 2) % AVERAGE, false);
    }
    free(member.expected);
}
