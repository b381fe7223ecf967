/*
 * The twins of the kernels in low_latency.cu. They quantise and sum by the library's own kernels, which have the same bits, and no code in
 * common with those of the GPU.
 */
#include "experts.h"
#include "low_latency_parameters.h"

#include "sluice_experts.h"

#include <stdlib.h>
#include <string.h>

#define GROUP 128
#define SLOT_BITS 26

/* The parameters of a launch, on a device. */
struct call {
    int ordinal;
    union {
        struct dispatch dispatch;
        struct combine combine;
    };
    struct result result;
    struct shape shape;
    struct expert_buffer buffer;
};

static struct call call_of(int ordinal, const uint8_t *arguments, size_t bytes) {
    struct call call = {.ordinal = ordinal};
    memcpy(&call.dispatch, arguments, bytes);
    arguments += bytes;
    memcpy(&call.result, arguments, sizeof call.result);
    arguments += sizeof call.result;
    memcpy(&call.shape, arguments, sizeof call.shape);
    arguments += sizeof call.shape;
    memcpy(&call.buffer, arguments, sizeof call.buffer);
    return call;
}

static void *at(const struct call *call, uint64_t address, uint64_t bytes) {
    return reach(call->ordinal, address, bytes);
}

static struct low_latency_words *words_of(const struct call *call) {
    return at(
            call, call->buffer.windows[call->buffer.rank] + call->shape.words_at, sizeof(struct low_latency_words));
}

static uint64_t row_bytes(const struct call *call) {
    return (uint64_t)call->shape.hidden * 2;
}

static uint32_t *counts_of(const struct call *call, unsigned owner, unsigned set, unsigned source) {
    uint64_t entries = call->shape.local_experts + 1;
    uint64_t place = (set * call->buffer.ranks + source) * entries;
    return at(call, call->buffer.windows[owner] + call->shape.counts_at + place * sizeof(uint32_t), entries * sizeof(uint32_t));
}

static uint8_t *message_of(const struct call *call, unsigned owner, unsigned set, unsigned source, unsigned index) {
    uint64_t place = (uint64_t)(set * call->buffer.ranks + source) * call->shape.tokens + index;
    return index >= call->shape.tokens
            ? NULL
            : at(call, call->buffer.windows[owner] + call->shape.messages_at + place * call->shape.message_bytes,
                      call->shape.message_bytes);
}

/* What the host is told of a word; NULL if it is out of reach. */
static struct proxy_call *proxy_call_of(const struct call *call, uint64_t word_at) {
    struct proxy_call *calls = at(call, call->shape.host, PROXY_CALLS * sizeof *calls);
    return calls == NULL ? NULL : calls + word_at / (EXPERT_RANKS * sizeof(uint64_t));
}

static bool tell_host(const struct call *call, uint64_t word_at, uint64_t value) {
    struct proxy_call *told = proxy_call_of(call, word_at);
    if (told != NULL) {
        __atomic_store_n(&told->value, value, __ATOMIC_RELEASE);
    }
    return told != NULL;
}

/* A word of another rank's, by its place in struct low_latency_words. */
static bool tell(const struct call *call, uint64_t word_at, uint64_t value) {
    bool is_good = call->shape.proxied == 0 || tell_host(call, word_at, value);
    for (unsigned peer = 0; is_good && peer < call->buffer.ranks; peer++) {
        is_good = expert_store(call->ordinal, call->buffer.windows[peer] + call->shape.words_at + word_at, value);
    }
    return is_good;
}

#define WORD_AT(field, set, rank) \
    (offsetof(struct low_latency_words, field) + ((uint64_t)(set) * EXPERT_RANKS + (rank)) * sizeof(uint64_t))

/* Waits for a word of each rank, which begin at a place; for all at once, as a rank that has left may be behind one that is late. */
static enum step await_all(
        const struct call *call, uint64_t *own, uint64_t word_at, uint64_t value, uint64_t patience) {
    enum step all = STEP_DONE;
    for (unsigned peer = 0; peer < call->buffer.ranks; peer++) {
        uint64_t word = call->buffer.windows[call->buffer.rank] + call->shape.words_at + word_at + peer * sizeof(uint64_t);
        enum step step = expert_await(call->ordinal, &call->buffer, own, word, value, peer, patience);
        if (step == STEP_FAILED) {
            return step;
        }
        all = step == STEP_AGAIN ? step : all;
    }
    return all;
}

/* What a kernel that gives up is: done, if the buffer says why. */
static enum step given_up(const struct call *call) {
    const struct expert_state *state = expert_state_of(call->ordinal, &call->buffer);
    return state != NULL && state->failed ? STEP_DONE : STEP_FAILED;
}

static bool has_failed(const struct call *call) {
    const struct expert_state *state = expert_state_of(call->ordinal, &call->buffer);
    return state == NULL || state->failed;
}

/* ---- dispatch ---- */

/* False if the choices are not valid, as the buffer then says, or are out of reach. */
static bool check_choices(const struct call *call, const int64_t *choices) {
    const struct shape *shape = &call->shape;
    for (uint64_t token = 0; token < call->dispatch.tokens; token++) {
        const int64_t *own = choices + token * shape->top_k;
        for (unsigned k = 0; k < shape->top_k; k++) {
            if (own[k] < -1 || own[k] >= (int64_t)shape->experts) {
                expert_fail(
                        call->ordinal, &call->buffer, EXPERT_NO_EXPERT, call->buffer.rank, token, (uint64_t)own[k]);
                return false;
            }
            for (unsigned i = 0; i < k; i++) {
                if (own[k] >= 0 && own[i] == own[k]) {
                    expert_fail(
                            call->ordinal, &call->buffer, EXPERT_NAMED_TWICE, call->buffer.rank, token, (uint64_t)own[k]);
                    return false;
                }
            }
        }
    }
    return true;
}

/* What is behind the header of a token's messages. */
static bool make_payload(const struct call *call, unsigned token, uint8_t *payload) {
    uint64_t bytes = row_bytes(call);
    const uint8_t *x = at(call, call->dispatch.x + token * bytes, bytes);
    if (x == NULL) {
        return false;
    }
    if (call->dispatch.format == BF16) {
        memcpy(payload, x, bytes);
        return true;
    }
    int hidden = (int)call->shape.hidden;
    int form = call->dispatch.format == FP8 ? SLUICE_EXPERTS_EXACT : SLUICE_EXPERTS_ROUNDED;
    return sluice_experts_quantize(payload, 0, 0, payload, hidden, 0, sizeof(float), x, 0, 0, form, hidden, 0, 1) == 1;
}

static uint64_t payload_bytes(const struct call *call) {
    uint64_t hidden = call->shape.hidden;
    return call->dispatch.format == BF16 ? 2 * hidden : hidden + hidden / GROUP * sizeof(float);
}

/* Sends what one rank gets. */
static bool send_to(const struct call *call, unsigned rank, unsigned set, const int64_t *choices, uint8_t *payload) {
    const struct shape *shape = &call->shape;
    int64_t first = (int64_t)rank * shape->local_experts;
    uint32_t *counts = counts_of(call, rank, set, call->buffer.rank);
    if (counts == NULL) {
        return false;
    }
    memset(counts, 0, (shape->local_experts + 1) * sizeof *counts);
    for (unsigned token = 0; token < call->dispatch.tokens; token++) {
        uint64_t header[2 + MOST_TOP_K] = {token};
        bool goes = false;
        for (unsigned k = 0; k < shape->top_k; k++) {
            int64_t local = choices[(uint64_t)token * shape->top_k + k] - first;
            if (local >= 0 && local < (int64_t)shape->local_experts) {
                header[2 + k] = (uint64_t)local << 32 | ++counts[local];
                goes = true;
            }
        }
        if (!goes) {
            continue;
        }
        uint8_t *message = message_of(call, rank, set, call->buffer.rank, counts[shape->local_experts]++);
        if (message == NULL || !make_payload(call, token, payload)) {
            return false;
        }
        memcpy(message, header, (2 + shape->top_k) * sizeof *header);
        memcpy(message + shape->payload_at, payload, payload_bytes(call));
    }
    return true;
}

/* How much the host is to carry to each rank. */
static bool put_messages(const struct call *call, unsigned set) {
    struct proxy_call *told = proxy_call_of(call, WORD_AT(dispatched, set, 0));
    for (unsigned rank = 0; told != NULL && rank < call->buffer.ranks; rank++) {
        if ((call->shape.proxied & 1ull << rank) != 0) {
            const uint32_t *counts = counts_of(call, rank, set, call->buffer.rank);
            if (counts == NULL) {
                return false;
            }
            told->messages[rank] = counts[call->shape.local_experts];
        }
    }
    return told != NULL;
}

static enum step dispatch_send(int ordinal, const uint8_t *arguments, uint64_t *own) {
    struct call call = call_of(ordinal, arguments, sizeof call.dispatch);
    struct low_latency_words *words = words_of(&call);
    if (words == NULL || has_failed(&call)) {
        return given_up(&call);
    }
    uint64_t generation = words->dispatches + 1;
    unsigned set = generation & 1;
    enum step step = generation <= 2
            ? STEP_DONE
            : await_all(&call, own, WORD_AT(dispatch_taken, set, 0), expert_signal(generation - 2, 0), call.dispatch.patience);
    if (step != STEP_DONE) {
        return step == STEP_AGAIN ? step : given_up(&call);
    }
    uint64_t slots = (uint64_t)call.dispatch.tokens * call.shape.top_k;
    static const int64_t none[1];
    const int64_t *choices = slots == 0 ? none : at(&call, call.dispatch.choices, slots * sizeof *choices);
    uint32_t *sent = at(&call, call.result.sent, (slots + 1) * sizeof *sent);
    if (choices == NULL || sent == NULL) {
        return STEP_FAILED;
    }
    if (!check_choices(&call, choices)) {
        return STEP_DONE;
    }
    for (uint64_t slot = 0; slot < slots; slot++) {
        sent[slot] = (uint32_t)(choices[slot] + 1);
    }
    uint8_t *payload = malloc(2 * (size_t)call.shape.hidden);
    bool is_good = payload != NULL;
    for (unsigned rank = 0; is_good && rank < call.buffer.ranks; rank++) {
        is_good = send_to(&call, rank, set, choices, payload);
    }
    free(payload);
    if (!is_good || (call.shape.proxied != 0 && !put_messages(&call, set))) {
        return STEP_FAILED;
    }
    words->results[call.dispatch.index].dispatch = generation;
    words->dispatches = generation;
    return tell(&call, WORD_AT(dispatched, set, call.buffer.rank), expert_signal(generation, call.dispatch.format))
            ? STEP_DONE
            : STEP_FAILED;
}

static void put_scales(const struct call *call, uint32_t *scales, uint64_t expert, uint64_t row, const uint8_t *from) {
    uint64_t groups = call->shape.hidden / GROUP;
    uint64_t rows = (uint64_t)call->buffer.ranks * call->shape.tokens;
    for (uint64_t group = 0; group < groups; group++) {
        uint32_t scale;
        memcpy(&scale, from + group * sizeof scale, sizeof scale);
        if (call->dispatch.format != FP8_UE8M0) {
            scales[(expert * groups + group) * rows + row] = scale;
            continue;
        }
        uint8_t *packed = (uint8_t *)&scales[(expert * (groups / 4) + group / 4) * rows + row];
        packed[group % 4] = (uint8_t)(scale >> 23);
    }
}

/* Where the results of a dispatch are, as the host reaches them. */
struct places {
    uint8_t *rows;
    uint32_t *scales;
    uint32_t *sources;
    uint64_t *places;
    const uint64_t *ranges;
};

/* Takes the messages of a rank. The places of an expert's rows begin at starts. */
static bool take(const struct call *call, const struct places *to, unsigned set, unsigned source, const uint64_t *starts) {
    const struct shape *shape = &call->shape;
    uint64_t rows = (uint64_t)call->buffer.ranks * shape->tokens;
    uint64_t bytes = call->dispatch.format == BF16 ? row_bytes(call) : shape->hidden;
    const uint32_t *counts = counts_of(call, call->buffer.rank, set, source);
    for (unsigned i = 0; counts != NULL && i < counts[shape->local_experts]; i++) {
        const uint8_t *message = message_of(call, call->buffer.rank, set, source, i);
        if (message == NULL) {
            return false;
        }
        const uint64_t *header = (const uint64_t *)message;
        for (unsigned k = 0; k < shape->top_k; k++) {
            uint64_t expert = header[2 + k] >> 32;
            if (header[2 + k] == 0 || expert >= shape->local_experts) {
                continue;
            }
            uint64_t row = (to->ranges[expert * call->buffer.ranks + source] >> 32) + (uint32_t)header[2 + k] - 1;
            if (row >= rows) {
                return false;
            }
            memcpy(to->rows + (expert * rows + row) * bytes, message + shape->payload_at, bytes);
            to->sources[expert * rows + row] = (uint32_t)header[0];
            to->places[starts[expert] + row] = (expert * rows + row) << 32 | (uint64_t)source << SLOT_BITS
                    | (header[0] * shape->top_k + k);
            if (call->dispatch.format != BF16) {
                put_scales(call, to->scales, expert, row, message + shape->payload_at + shape->hidden);
            }
        }
    }
    return counts != NULL;
}

/* Counts and ranges; where the places of each expert begin, and of none. */
static bool put_layout(const struct call *call, unsigned set, uint64_t *starts) {
    const struct shape *shape = &call->shape;
    uint32_t *counts = at(call, call->result.counts, shape->local_experts * sizeof *counts);
    uint32_t *host = at(call, call->result.host_counts, shape->local_experts * sizeof *host);
    uint64_t *ranges = at(call, call->result.ranges, (uint64_t)shape->local_experts * call->buffer.ranks * sizeof *ranges);
    uint32_t *statistics = call->dispatch.statistics == 0
            ? NULL
            : at(call, call->dispatch.statistics, shape->local_experts * sizeof *statistics);
    if (counts == NULL || host == NULL || ranges == NULL || (statistics == NULL && call->dispatch.statistics != 0)) {
        return false;
    }
    starts[0] = 0;
    for (unsigned expert = 0; expert < shape->local_experts; expert++) {
        uint64_t row = 0;
        for (unsigned source = 0; source < call->buffer.ranks; source++) {
            const uint32_t *sent = counts_of(call, call->buffer.rank, set, source);
            if (sent == NULL) {
                return false;
            }
            ranges[expert * call->buffer.ranks + source] = row << 32 | sent[expert];
            row += sent[expert];
        }
        counts[expert] = (uint32_t)row;
        host[expert] = (uint32_t)row;
        if (statistics != NULL) {
            statistics[expert] += (uint32_t)row;
        }
        starts[expert + 1] = starts[expert] + row;
    }
    return true;
}

static enum step dispatch_receive(int ordinal, const uint8_t *arguments, uint64_t *own) {
    struct call call = call_of(ordinal, arguments, sizeof call.dispatch);
    struct low_latency_words *words = words_of(&call);
    if (words == NULL || has_failed(&call)) {
        return given_up(&call);
    }
    struct result_words *result = &words->results[call.dispatch.index];
    unsigned set = result->dispatch & 1;
    enum step step = await_all(
            &call, own, WORD_AT(dispatched, set, 0), expert_signal(result->dispatch, call.dispatch.format),
            call.dispatch.patience);
    if (step != STEP_DONE) {
        return step == STEP_AGAIN ? step : given_up(&call);
    }
    uint64_t rows = (uint64_t)call.shape.local_experts * call.buffer.ranks * call.shape.tokens;
    struct places to = {
        .rows = at(&call, call.result.rows, rows * row_bytes(&call)),
        .scales = at(&call, call.result.scales, rows * (call.shape.hidden / GROUP) * sizeof(uint32_t)),
        .sources = at(&call, call.result.sources, rows * sizeof(uint32_t)),
        .places = at(&call, call.result.places, rows * sizeof(uint64_t)),
        .ranges = at(
                &call, call.result.ranges, (uint64_t)call.shape.local_experts * call.buffer.ranks * sizeof(uint64_t)),
    };
    uint64_t *starts = calloc(call.shape.local_experts + 1u, sizeof *starts);
    bool is_good = starts != NULL && to.rows != NULL && to.scales != NULL && to.sources != NULL && to.places != NULL
            && put_layout(&call, set, starts);
    for (unsigned source = 0; is_good && source < call.buffer.ranks; source++) {
        is_good = take(&call, &to, set, source, starts);
    }
    result->rows = is_good ? starts[call.shape.local_experts] : 0;
    free(starts);
    is_good = is_good && tell(&call, WORD_AT(dispatch_taken, set, call.buffer.rank), expert_signal(result->dispatch, 0));
    return is_good ? STEP_DONE : STEP_FAILED;
}

/* ---- combine ---- */

/* Where the host finds the rows that it is to carry. */
static bool put_places(const struct call *call, unsigned set, const uint64_t *places, uint64_t rows) {
    struct proxy_call *told = proxy_call_of(call, WORD_AT(combined, set, 0));
    uint64_t most = (uint64_t)call->shape.local_experts * call->buffer.ranks * call->shape.tokens;
    uint64_t first = call->shape.host + PROXY_CALLS * sizeof *told + set * most * sizeof *places;
    uint64_t *to = rows > most ? NULL : at(call, first, most * sizeof *to);
    if (told == NULL || to == NULL) {
        return false;
    }
    memcpy(to, places, rows * sizeof *to);
    told->rows = rows;
    return true;
}

/* What ranks must have in common. */
static uint64_t combined_signal(const struct call *call, uint64_t generation, enum combine_format format) {
    const struct low_latency_words *words = words_of(call);
    uint64_t dispatched = words->results[call->combine.index].dispatch;
    return expert_signal(generation, (uint32_t)dispatched << 1 | format);
}

static uint64_t slots_of_set(const struct call *call) {
    return (uint64_t)call->shape.tokens * call->shape.top_k;
}

/* Of a row in LogFMT, which come first, and have a place of their own. */
static uint64_t extremes_bytes(const struct call *call) {
    return call->shape.hidden / GROUP * sizeof(uint32_t);
}

static uint8_t *slot_at(const struct call *call, unsigned rank, unsigned set, uint64_t slot, uint64_t count) {
    uint64_t bytes = row_bytes(call);
    return at(call, call->buffer.windows[rank] + call->shape.slots_at + (set * slots_of_set(call) + slot) * bytes, count * bytes);
}

static uint8_t *extremes_at(const struct call *call, unsigned rank, unsigned set, uint64_t slot, uint64_t count) {
    uint64_t slots = slots_of_set(call);
    uint64_t extremes_begin = call->shape.slots_at + SETS * slots * row_bytes(call);
    uint64_t bytes = extremes_bytes(call);
    return at(call, call->buffer.windows[rank] + extremes_begin + (set * slots + slot) * bytes, count * bytes);
}

/* Sends a row to its place; in LogFMT by way of memory that it finds. */
static bool send_result(const struct call *call, uint64_t place, unsigned set, enum combine_format format, uint8_t *encoded) {
    uint32_t slot = (uint32_t)place & ((1u << SLOT_BITS) - 1);
    unsigned rank = (uint32_t)place >> SLOT_BITS;
    uint64_t bytes = row_bytes(call);
    const uint8_t *y = at(call, call->combine.y + (place >> 32) * bytes, bytes);
    uint8_t *to = rank >= call->buffer.ranks ? NULL : slot_at(call, rank, set, slot, 1);
    if (y == NULL || to == NULL) {
        return false;
    }
    if (format == AS_IT_IS) {
        memcpy(to, y, bytes);
        return true;
    }
    uint64_t first = extremes_bytes(call);
    uint8_t *extremes = extremes_at(call, rank, set, slot, 1);
    int32_t size;
    if (extremes == NULL
            || sluice_experts_encode_logfmt(encoded, 0, 0, &size, 0, y, 0, 0, (int)call->shape.hidden, 0, 1) != 1) {
        return false;
    }
    memcpy(extremes, encoded, first);
    memcpy(to, encoded + first, (size_t)size - first);
    return true;
}

static enum step send_results(int ordinal, const uint8_t *arguments, uint64_t *own, enum combine_format format) {
    struct call call = call_of(ordinal, arguments, sizeof call.combine);
    struct low_latency_words *words = words_of(&call);
    if (words == NULL || has_failed(&call)) {
        return given_up(&call);
    }
    struct result_words *result = &words->results[call.combine.index];
    uint64_t generation = words->combines + 1;
    unsigned set = generation & 1;
    enum step step = generation <= 2
            ? STEP_DONE
            : await_all(&call, own, WORD_AT(combine_taken, set, 0), expert_signal(generation - 2, 0), call.combine.patience);
    if (step != STEP_DONE) {
        return step == STEP_AGAIN ? step : given_up(&call);
    }
    const uint64_t *places = at(&call, call.result.places, (result->rows + 1) * sizeof *places);
    if (places != NULL && call.shape.proxied != 0 && !put_places(&call, set, places, result->rows)) {
        return STEP_FAILED;
    }
    uint8_t *encoded = malloc(row_bytes(&call) + extremes_bytes(&call));
    bool is_good = places != NULL && encoded != NULL;
    for (uint64_t i = 0; is_good && i < result->rows; i++) {
        is_good = send_result(&call, places[i], set, format, encoded);
    }
    free(encoded);
    if (!is_good) {
        return STEP_FAILED;
    }
    result->combine = generation;
    words->combines = generation;
    return tell(&call, WORD_AT(combined, set, call.buffer.rank), combined_signal(&call, generation, format)) ? STEP_DONE
                                                                                                             : STEP_FAILED;
}

static enum step combine_send(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return send_results(ordinal, arguments, own, AS_IT_IS);
}

static enum step combine_send_logfmt(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return send_results(ordinal, arguments, own, LOGFMT);
}

/* The rows in LogFMT of so many slots, in whole; to be freed. NULL if they are out of reach. */
static uint8_t *joined(const struct call *call, unsigned set, uint64_t count) {
    uint64_t bytes = row_bytes(call);
    uint64_t first = extremes_bytes(call);
    const uint8_t *slots = slot_at(call, call->buffer.rank, set, 0, count);
    const uint8_t *extremes = extremes_at(call, call->buffer.rank, set, 0, count);
    uint8_t *rows = slots == NULL || extremes == NULL ? NULL : malloc(count * (first + bytes));
    for (uint64_t i = 0; rows != NULL && i < count; i++) {
        memcpy(rows + i * (first + bytes), extremes + i * first, first);
        memcpy(rows + i * (first + bytes) + first, slots + i * bytes, bytes);
    }
    return rows;
}

/* False if something is out of reach. */
static bool add_results(
        const struct call *call, unsigned set, enum combine_format format, const int64_t *choices, const float *weights) {
    uint64_t bytes = row_bytes(call);
    uint64_t count = (uint64_t)call->combine.tokens * call->shape.top_k;
    uint8_t *rows = format == LOGFMT ? joined(call, set, count) : NULL;
    const uint8_t *from = format == LOGFMT ? rows : slot_at(call, call->buffer.rank, set, 0, count);
    uint64_t stride = format == LOGFMT ? extremes_bytes(call) + bytes : bytes;
    void *out = at(call, call->combine.out, call->combine.tokens * bytes);
    bool is_good = from != NULL && out != NULL
            && sluice_experts_sum_slots(
                       out, 0, (int64_t)bytes, from, 0, (int64_t)stride, choices, 0, weights, 0,
                       format == LOGFMT ? SLUICE_EXPERTS_LOGFMT : SLUICE_EXPERTS_BFLOAT16, (int)call->shape.hidden,
                       (int)call->shape.top_k, 0, (int)call->combine.tokens)
                    == call->combine.tokens;
    free(rows);
    return is_good;
}

static enum step receive_results(int ordinal, const uint8_t *arguments, uint64_t *own, enum combine_format format) {
    struct call call = call_of(ordinal, arguments, sizeof call.combine);
    struct low_latency_words *words = words_of(&call);
    if (words == NULL || has_failed(&call)) {
        return given_up(&call);
    }
    const struct result_words *result = &words->results[call.combine.index];
    unsigned set = result->combine & 1;
    enum step step = await_all(
            &call, own, WORD_AT(combined, set, 0), combined_signal(&call, result->combine, format), call.combine.patience);
    if (step != STEP_DONE) {
        return step == STEP_AGAIN ? step : given_up(&call);
    }
    uint64_t count = (uint64_t)call.combine.tokens * call.shape.top_k;
    if (count > 0) {
        const int64_t *choices = at(&call, call.combine.choices, count * sizeof *choices);
        const float *weights = at(&call, call.combine.weights, count * sizeof *weights);
        const uint32_t *sent = at(&call, call.result.sent, count * sizeof *sent);
        if (choices == NULL || weights == NULL || sent == NULL) {
            return STEP_FAILED;
        }
        for (uint64_t slot = 0; slot < count; slot++) {
            if (choices[slot] >= 0 && sent[slot] != (uint64_t)choices[slot] + 1) {
                expert_fail(
                        ordinal, &call.buffer, EXPERT_NOT_DISPATCHED, call.buffer.rank, slot / call.shape.top_k,
                        (uint64_t)choices[slot]);
                return STEP_DONE;
            }
        }
        if (!add_results(&call, set, format, choices, weights)) {
            return STEP_FAILED;
        }
    }
    return tell(&call, WORD_AT(combine_taken, set, call.buffer.rank), expert_signal(result->combine, 0)) ? STEP_DONE
                                                                                                         : STEP_FAILED;
}

static enum step combine_receive(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return receive_results(ordinal, arguments, own, AS_IT_IS);
}

static enum step combine_receive_logfmt(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return receive_results(ordinal, arguments, own, LOGFMT);
}

#define TWIN(kind, step_of, suffix) \
    {.name = "sluice_experts_" #step_of suffix, \
     .arguments = {sizeof(struct kind), sizeof(struct result), sizeof(struct shape), sizeof(struct expert_buffer)}, \
     .step = step_of},

#define TWINS(kind, suffix) TWIN(kind, kind##_send, suffix) TWIN(kind, kind##_receive, suffix)

const struct twin expert_low_latency_twins[] = {
    TWINS(dispatch, "") TWINS(combine, "")
    TWINS(dispatch, "_2048") TWINS(combine, "_2048")
    TWINS(dispatch, "_4096") TWINS(combine, "_4096")
    TWINS(dispatch, "_7168") TWINS(combine, "_7168")
    TWIN(combine, combine_send_logfmt, "") TWIN(combine, combine_receive_logfmt, "")
    {.name = NULL},
};
