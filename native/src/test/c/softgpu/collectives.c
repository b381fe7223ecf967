/*
 * The twins of the kernels in collectives.cu. One block does all. They sum by the library's own reductions, which have the same order
 * and rounding, and no code in common with the kernels.
 */
#include "collective_parameters.h"
#include "gpu.h"

#include "sluice_reduce.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIT 8
#define VECTOR 16

enum phase { BEGINS, WAITS, ENDS };

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct progress *state_of(int ordinal, const struct team *team) {
    return reach(ordinal, team->state, sizeof(struct progress));
}

static enum step end(int ordinal, const struct team *team, uint64_t generation) {
    struct progress *state = state_of(ordinal, team);
    if (state == NULL) {
        return STEP_FAILED;
    }
    state->generation = generation;
    return STEP_DONE;
}

/* What a look at a rank's flag or messages has shown. */
enum look { MISSING, OTHER, HERE, OUT_OF_REACH };

/* Gives up if it is time to. */
static enum step await(int ordinal, const struct team *team, uint64_t began, uint64_t generation, unsigned rank, enum look look) {
    struct words *host = reach(ordinal, team->host, sizeof *host);
    struct progress *state = state_of(ordinal, team);
    if (host == NULL || state == NULL || look == OUT_OF_REACH) {
        return STEP_FAILED;
    }
    if (look != OTHER && nanoseconds() - began < team->patience
            && __atomic_load_n(&host->is_revoked, __ATOMIC_ACQUIRE) == 0) {
        return STEP_AGAIN;
    }
    state->failed = 1;
    __atomic_store_n(&host->failure, rank + 1 + (look == OTHER ? DIFFERS : 0), __ATOMIC_RELEASE);
    return end(ordinal, team, generation);
}

static uint64_t reached(uint64_t generation, uint32_t signature) {
    return generation << SIGNATURE_BITS | (signature & ((1u << SIGNATURE_BITS) - 1));
}

static uint64_t *flag(int ordinal, const struct team *team, unsigned owner, bool is_last, unsigned sender) {
    uint64_t place = (is_last ? MOST_BLOCKS : 0) * MOST_RANKS + sender;
    return reach(ordinal, team->scratch[owner] + place * sizeof(uint64_t), sizeof(uint64_t));
}

static bool raise_flags(int ordinal, const struct team *team, uint64_t value, bool is_last) {
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        uint64_t *theirs = peer == team->rank ? NULL : flag(ordinal, team, peer, is_last, team->rank);
        if (theirs != NULL) {
            __atomic_store_n(theirs, value, __ATOMIC_RELEASE);
        } else if (peer != team->rank) {
            return false;
        }
    }
    return true;
}

static enum look look_at_flag(int ordinal, const struct team *team, uint64_t value, bool is_last, unsigned sender) {
    const uint64_t *own = flag(ordinal, team, team->rank, is_last, sender);
    if (own == NULL) {
        return OUT_OF_REACH;
    }
    uint64_t seen = __atomic_load_n(own, __ATOMIC_ACQUIRE);
    if (seen >> SIGNATURE_BITS < value >> SIGNATURE_BITS) {
        return MISSING;
    }
    return seen >> SIGNATURE_BITS == value >> SIGNATURE_BITS && seen != value ? OTHER : HERE;
}

/* The first rank whose flag is not here, or -1. */
static int first_missing(int ordinal, const struct team *team, uint64_t value, bool is_last, enum look *look) {
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        *look = peer == team->rank ? HERE : look_at_flag(ordinal, team, value, is_last, peer);
        if (*look != HERE) {
            return (int)peer;
        }
    }
    return -1;
}

/* ---- exchanges ---- */

struct message {
    uint32_t first;
    uint32_t first_flag;
    uint32_t second;
    uint32_t second_flag;
};

static struct message *slot(int ordinal, const struct team *team, unsigned owner, unsigned sender, uint64_t generation,
        uint64_t units) {
    uint64_t at = FLAGS_BYTES + ((generation & 1) * team->ranks + sender) * team->slot_bytes;
    return units * sizeof(struct message) > team->slot_bytes
            ? NULL
            : reach(ordinal, team->scratch[owner] + at, units * sizeof(struct message));
}

static uint32_t second_flag(uint64_t generation, uint32_t signature) {
    return (uint32_t)generation + (uint32_t)(generation >> 32) * 0x9e3779b9u + signature;
}

static void put_message(struct message *to, const uint8_t *bytes, uint64_t count, uint64_t generation, uint32_t signature) {
    struct message message = {
        .first_flag = (uint32_t)generation, .second_flag = second_flag(generation, signature)};
    uint8_t unit[UNIT] = {0};
    memcpy(unit, bytes, count);
    memcpy(&message.first, unit, sizeof message.first);
    memcpy(&message.second, unit + sizeof message.first, sizeof message.second);
    uint64_t halves[2];
    memcpy(halves, &message, sizeof halves);
    /* who sees the first half sees the second */
    __atomic_store_n((uint64_t *)to + 1, halves[1], __ATOMIC_RELEASE);
    __atomic_store_n((uint64_t *)to, halves[0], __ATOMIC_RELEASE);
}

static enum look look_at_message(const struct message *at, uint64_t generation, uint32_t signature, uint8_t *unit) {
    struct message message;
    uint64_t halves[2];
    halves[0] = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    halves[1] = __atomic_load_n((const uint64_t *)at + 1, __ATOMIC_ACQUIRE);
    memcpy(&message, halves, sizeof message);
    if (message.first_flag != (uint32_t)generation) {
        return MISSING;
    }
    if (message.second_flag != second_flag(generation, signature)) {
        return OTHER;
    }
    memcpy(unit, &message.first, sizeof message.first);
    memcpy(unit + sizeof message.first, &message.second, sizeof message.second);
    return HERE;
}

static bool send(int ordinal, const struct exchange *what, const struct team *team, uint64_t generation) {
    uint64_t units = (what->bytes + UNIT - 1) / UNIT;
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        if (peer == team->rank || !(what->receivers >> peer & 1) || units == 0) {
            continue;
        }
        const uint8_t *from = reach(ordinal, what->in + peer * what->in_stride, what->bytes);
        struct message *to = slot(ordinal, team, peer, team->rank, generation, units);
        if (from == NULL || to == NULL) {
            return false;
        }
        for (uint64_t i = 0; i < units; i++) {
            uint64_t rest = what->bytes - i * UNIT;
            put_message(to + i, from + i * UNIT, rest < UNIT ? rest : UNIT, generation, what->signature);
        }
    }
    return true;
}

static bool is_symmetric(const struct exchange *what, const struct team *team) {
    uint64_t all = ~UINT64_C(0) >> (MOST_RANKS - team->ranks);
    return (what->senders & what->receivers) == all && what->bytes > 0;
}

static bool reduce(int type, unsigned operation, void *to, const void *const *from, int operands, int ranks, uint64_t bytes) {
    static const int sizes[] = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
    struct sluice_reduction reduction = {
        .type = (enum sluice_reduce_type)type,
        .operation = (enum sluice_reduce_operation)(operation - 1),
        .to = to,
        .from = from,
        .operands = operands,
        .divisor = ranks,
        .count = (int64_t)(bytes / (uint64_t)sizes[type]),
    };
    return sluice_reduce(&reduction) == 0;
}

/* What all have sent is here: it goes where it belongs, or is reduced by type unless that is negative. */
static bool take(int ordinal, const struct exchange *what, const struct team *team, uint8_t *const *received, int type) {
    const void *operands[MOST_RANKS];
    int count = 0;
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        if (!(what->senders >> peer & 1)) {
            continue;
        }
        const uint8_t *from = peer == team->rank
                ? reach(ordinal, what->in + peer * what->in_stride, what->bytes)
                : received[peer];
        if (from == NULL) {
            return false;
        }
        operands[count++] = from;
        if (type < 0) {
            void *to = reach(ordinal, what->out + peer * what->out_stride, what->bytes);
            if (to == NULL) {
                return false;
            }
            memmove(to, from, what->bytes);
        }
    }
    void *to = type < 0 ? NULL : reach(ordinal, what->out, what->bytes);
    return type < 0
            || (to != NULL && reduce(type, what->operation, to, operands, count, (int)team->ranks, what->bytes));
}

/* Looks for the messages of all, into memory of its own; -1 if they are here, else the first rank whose are not. */
static int collect(int ordinal, const struct exchange *what, const struct team *team, uint64_t generation,
        uint8_t **received, enum look *look) {
    uint64_t units = (what->bytes + UNIT - 1) / UNIT;
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        if (peer == team->rank || !(what->senders >> peer & 1) || units == 0) {
            continue;
        }
        const struct message *from = slot(ordinal, team, team->rank, peer, generation, units);
        received[peer] = malloc(units * UNIT);
        *look = from == NULL || received[peer] == NULL ? OUT_OF_REACH : HERE;
        for (uint64_t i = 0; *look == HERE && i < units; i++) {
            *look = look_at_message(from + i, generation, what->signature, received[peer] + i * UNIT);
        }
        if (*look != HERE) {
            return (int)peer;
        }
    }
    return -1;
}

static enum step exchange(int ordinal, const uint8_t *arguments, uint64_t *own, int type) {
    struct exchange what;
    struct team team;
    memcpy(&what, arguments, sizeof what);
    memcpy(&team, arguments + sizeof what, sizeof team);
    struct progress *state = state_of(ordinal, &team);
    if (state == NULL) {
        return STEP_FAILED;
    }
    uint64_t generation = state->generation + 1;
    if (state->failed) {
        return end(ordinal, &team, generation);
    }
    uint64_t value = reached(generation, what.signature);
    uint64_t me = UINT64_C(1) << team.rank;
    bool says_so = !is_symmetric(&what, &team);
    if (own[0] == BEGINS) {
        own[0] = WAITS;
        own[1] = nanoseconds();
        if (!raise_flags(ordinal, &team, value, false)
                || ((what.senders & me) && !send(ordinal, &what, &team, generation))) {
            return STEP_FAILED;
        }
    }
    enum look look = HERE;
    uint8_t *received[MOST_RANKS] = {NULL};
    int missing = (what.receivers & me) ? collect(ordinal, &what, &team, generation, received, &look) : -1;
    if (missing < 0 && says_so) {
        missing = first_missing(ordinal, &team, value, false, &look);
    }
    enum step step = missing >= 0
            ? await(ordinal, &team, own[1], generation, (unsigned)missing, look)
            : !(what.receivers & me) || what.bytes == 0 || take(ordinal, &what, &team, received, type)
                    ? end(ordinal, &team, generation)
                    : STEP_FAILED;
    for (unsigned peer = 0; peer < team.ranks; peer++) {
        free(received[peer]);
    }
    return step;
}

/* ---- pushes ---- */

static uint8_t *push_slot(
        int ordinal, const struct team *team, unsigned owner, unsigned sender, uint64_t generation, uint64_t bytes) {
    uint64_t slots = FLAGS_BYTES + 2 * team->ranks * team->slot_bytes;
    uint64_t at = slots + ((generation & 1) * team->ranks + sender) * team->push_slot_bytes;
    uint64_t whole = (bytes + VECTOR - 1) / VECTOR * VECTOR;
    return whole > team->push_slot_bytes ? NULL : reach(ordinal, team->scratch[owner] + at, whole);
}

static bool push_all(int ordinal, const struct exchange *what, const struct team *team, uint64_t generation) {
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        if (peer == team->rank) {
            continue;
        }
        const uint8_t *from = reach(ordinal, what->in + peer * what->in_stride, what->bytes);
        uint8_t *to = push_slot(ordinal, team, peer, team->rank, generation, what->bytes);
        if (from == NULL || to == NULL) {
            return false;
        }
        memcpy(to, from, what->bytes);
    }
    return true;
}

static bool take_pushed(int ordinal, const struct exchange *what, const struct team *team, uint64_t generation, int type) {
    uint8_t *received[MOST_RANKS];
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        received[peer] = push_slot(ordinal, team, team->rank, peer, generation, what->bytes);
    }
    return take(ordinal, what, team, received, type);
}

static enum step push(int ordinal, const uint8_t *arguments, uint64_t *own, int type) {
    struct exchange what;
    struct team team;
    memcpy(&what, arguments, sizeof what);
    memcpy(&team, arguments + sizeof what, sizeof team);
    struct progress *state = state_of(ordinal, &team);
    if (state == NULL) {
        return STEP_FAILED;
    }
    uint64_t generation = state->generation + 1;
    if (state->failed) {
        return end(ordinal, &team, generation);
    }
    uint64_t value = reached(generation, what.signature);
    if (own[0] == BEGINS) {
        own[0] = WAITS;
        own[1] = nanoseconds();
        if (!raise_flags(ordinal, &team, value, false) || !push_all(ordinal, &what, &team, generation)
                || !raise_flags(ordinal, &team, value, true)) {
            return STEP_FAILED;
        }
    }
    enum look look = HERE;
    int missing = first_missing(ordinal, &team, value, false, &look);
    if (missing < 0) {
        missing = first_missing(ordinal, &team, value, true, &look);
    }
    if (missing >= 0) {
        return await(ordinal, &team, own[1], generation, (unsigned)missing, look);
    }
    return take_pushed(ordinal, &what, &team, generation, type) ? end(ordinal, &team, generation) : STEP_FAILED;
}

/* ---- what reaches the memory of all ranks ---- */

static bool reduce_slice(int ordinal, const struct reduction *what, const struct team *team, int type) {
    const void *from[MOST_RANKS];
    uint8_t *sum = malloc(what->bytes + 1);
    bool is_good = sum != NULL;
    for (unsigned peer = 0; is_good && what->bytes > 0 && peer < team->ranks; peer++) {
        from[peer] = reach(ordinal, what->in[peer], what->bytes);
        is_good = from[peer] != NULL;
    }
    is_good = is_good
            && (what->bytes == 0
                    || reduce(type, what->operation, sum, from, (int)team->ranks, (int)team->ranks, what->bytes));
    for (unsigned peer = 0; is_good && what->bytes > 0 && peer < team->ranks; peer++) {
        void *to = what->out[peer] == 0 ? NULL : reach(ordinal, what->out[peer], what->bytes);
        if (to != NULL) {
            memcpy(to, sum, what->bytes);
        }
        is_good = to != NULL || what->out[peer] == 0;
    }
    free(sum);
    return is_good;
}

static bool copy_to_ranks(int ordinal, const struct copies *what, const struct team *team) {
    for (unsigned peer = 0; peer < team->ranks; peer++) {
        if (what->bytes[peer] == 0) {
            continue;
        }
        void *to = reach(ordinal, what->to[peer], what->bytes[peer]);
        const void *from = reach(ordinal, what->from[peer], what->bytes[peer]);
        if (to == NULL || from == NULL) {
            return false;
        }
        memmove(to, from, what->bytes[peer]);
    }
    return true;
}

typedef bool direct_work(int ordinal, const void *what, const struct team *team, int type);

static bool reduction_work(int ordinal, const void *what, const struct team *team, int type) {
    return reduce_slice(ordinal, what, team, type);
}

static bool copies_work(int ordinal, const void *what, const struct team *team, int type) {
    (void)type;
    return copy_to_ranks(ordinal, what, team);
}

static enum step direct(
        int ordinal, const void *what, const struct team *team, uint32_t signature, uint64_t *own, direct_work *work, int type) {
    struct progress *state = state_of(ordinal, team);
    if (state == NULL) {
        return STEP_FAILED;
    }
    uint64_t generation = state->generation + 1;
    if (state->failed) {
        return end(ordinal, team, generation);
    }
    uint64_t value = reached(generation, signature);
    enum look look = HERE;
    if (own[0] == BEGINS) {
        own[0] = WAITS;
        own[1] = nanoseconds();
        if (!raise_flags(ordinal, team, value, false)) {
            return STEP_FAILED;
        }
    }
    if (own[0] == WAITS) {
        int missing = first_missing(ordinal, team, value, false, &look);
        if (missing >= 0) {
            return await(ordinal, team, own[1], generation, (unsigned)missing, look);
        }
        if (!work(ordinal, what, team, type) || !raise_flags(ordinal, team, value, true)) {
            return STEP_FAILED;
        }
        own[0] = ENDS;
    }
    int missing = first_missing(ordinal, team, value, true, &look);
    return missing >= 0 ? await(ordinal, team, own[1], generation, (unsigned)missing, look)
                        : end(ordinal, team, generation);
}

static enum step reduction(int ordinal, const uint8_t *arguments, uint64_t *own, int type) {
    struct reduction what;
    struct team team;
    memcpy(&what, arguments, sizeof what);
    memcpy(&team, arguments + sizeof what, sizeof team);
    return direct(ordinal, &what, &team, what.signature, own, reduction_work, type);
}

static enum step copies(int ordinal, const uint8_t *arguments, uint64_t *own) {
    struct copies what;
    struct team team;
    memcpy(&what, arguments, sizeof what);
    memcpy(&team, arguments + sizeof what, sizeof team);
    return direct(ordinal, &what, &team, (uint32_t)what.signature, own, copies_work, -1);
}

static enum step plain_exchange(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return exchange(ordinal, arguments, own, -1);
}

#define TYPES(X) \
    X(int8, SLUICE_INT8) X(uint8, SLUICE_UINT8) X(int32, SLUICE_INT32) X(uint32, SLUICE_UINT32) X(int64, SLUICE_INT64) \
    X(uint64, SLUICE_UINT64) X(float16, SLUICE_FLOAT16) X(bfloat16, SLUICE_BFLOAT16) X(float32, SLUICE_FLOAT32) \
    X(float64, SLUICE_FLOAT64)

#define STEPS(element, code) \
    static enum step exchange_##element(int ordinal, const uint8_t *arguments, uint64_t *own) { \
        return exchange(ordinal, arguments, own, code); \
    } \
    static enum step push_##element(int ordinal, const uint8_t *arguments, uint64_t *own) { \
        return push(ordinal, arguments, own, code); \
    } \
    static enum step reduce_##element(int ordinal, const uint8_t *arguments, uint64_t *own) { \
        return reduction(ordinal, arguments, own, code); \
    }

TYPES(STEPS)

#define TWINS(element, code) \
    {.name = "sluice_exchange_" #element, .arguments = {sizeof(struct exchange), sizeof(struct team)}, .step = exchange_##element}, \
    {.name = "sluice_push_" #element, .arguments = {sizeof(struct exchange), sizeof(struct team)}, .step = push_##element}, \
    {.name = "sluice_reduce_" #element, .arguments = {sizeof(struct reduction), sizeof(struct team)}, .step = reduce_##element},

const struct twin collective_twins[] = {
    {.name = "sluice_exchange", .arguments = {sizeof(struct exchange), sizeof(struct team)}, .step = plain_exchange},
    {.name = "sluice_copy_to_ranks", .arguments = {sizeof(struct copies), sizeof(struct team)}, .step = copies},
    TYPES(TWINS)
    {.name = NULL},
};
