/* Tokens, their experts and their 8-bit floats, value by value; and the kernel by which a rank says that it has left. */
#include "expert_driver.h"

#include <string.h>

#define NAN_CODE 0x7f

const char *const module_files[] = {"experts_buffer.ptx", "experts_low_latency.ptx", "experts_normal.ptx", NULL};

uint64_t aligned(uint64_t offset) {
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

struct expert_buffer make_buffer(struct rank *rank, uint64_t window_bytes, struct expert_words **words) {
    struct expert_buffer buffer = {.rank = number_of(rank), .ranks = RANKS};
    *words = host_memory(rank, sizeof **words, &buffer.host);
    cuda_address window = device_memory(rank, window_bytes);
    buffer.state = window + offsetof(struct expert_window, state);
    share(rank, window, buffer.windows);
    return buffer;
}

void succeed(struct rank *rank, const struct expert_words *words, const char *what) {
    await(rank, what);
    uint64_t failure = __atomic_load_n(&words->failure, __ATOMIC_ACQUIRE);
    if (failure != 0) {
        bool is_missing = failure >> 32 == EXPERT_MISSING;
        fail(rank, "%s: failure %u of rank %u%s", what, (unsigned)(failure >> 32), (unsigned)failure - 1,
                is_missing ? ", which has not come: do its kernels run at the same time?" : "");
    }
}

/* ---- tokens ---- */

unsigned tokens_of(unsigned rank, unsigned most) {
    return most - 3 * rank;
}

void choose(unsigned rank, unsigned token, int64_t *choices) {
    /* an odd step visits each expert once */
    unsigned first = mixed(rank, token, 1);
    unsigned step = 2 * mixed(rank, token, 2) + 1;
    for (unsigned k = 0; k < TOP_K; k++) {
        choices[k] = mixed(rank, token, 30 + k) % 7 == 0 ? -1 : (int64_t)((first + k * step) % EXPERTS);
    }
}

float weight_of(unsigned rank, unsigned token, unsigned k) {
    return (float)(mixed(rank, token, 40 + k) % 1000) / 999;
}

bool goes_to(unsigned from, unsigned token, unsigned rank) {
    int64_t choices[TOP_K];
    choose(from, token, choices);
    for (unsigned k = 0; k < TOP_K; k++) {
        if (choices[k] >= 0 && choices[k] / LOCAL_EXPERTS == rank) {
            return true;
        }
    }
    return false;
}

static void fill(uint16_t *to, uint32_t seed, unsigned token, unsigned hidden, float divisor) {
    for (unsigned i = 0; i < hidden; i++) {
        to[i] = bfloat16_of((float)((int)(mixed(seed, token, i) % 4001) - 2000) / divisor);
    }
}

void fill_token(uint16_t *to, unsigned rank, unsigned token, unsigned hidden) {
    fill(to, rank, token, hidden, 128);
}

void fill_answer(uint16_t *to, unsigned rank, unsigned token, unsigned maker, unsigned hidden) {
    fill(to, RANKS + rank + RANKS * maker, token, hidden, maker % 2 == 0 ? 128 : 4096);
}

/* ---- 8-bit floats ---- */

static uint8_t code_of(float scaled) {
    uint32_t bits = bits_of(scaled);
    uint32_t rest = bits & 0x7fffffff;
    uint32_t sign = bits >> 24 & 0x80;
    if (scaled != scaled) {
        return NAN_CODE;
    }
    if (rest < 0x3c800000) {
        return (uint8_t)(sign | (bits_of(float_of(rest) + 16384.0f) - 0x46800000));
    }
    return (uint8_t)(sign | (((rest + 0x7ffff + (rest >> 20 & 1)) >> 20) - (120 << 3)));
}

void quantise(const uint16_t *from, uint8_t *codes, uint8_t *scales, unsigned hidden, enum format format) {
    for (unsigned group = 0; group < hidden / GROUP; group++, from += GROUP, codes += GROUP) {
        uint32_t greatest = 0;
        for (unsigned i = 0; i < GROUP; i++) {
            uint32_t magnitude = from[i] & 0x7fff;
            greatest = magnitude > greatest ? magnitude : greatest;
        }
        float most = float_of(greatest << 16);
        most = most < 1e-4f ? 1e-4f : most;
        float inverse = most * (1 / 448.0f);
        float factor = 448.0f / most;
        if (format != FP8) {
            uint32_t exponent = (bits_of(inverse) + 0x7fffff) >> 23;
            inverse = float_of(exponent << 23);
            factor = float_of((254 - exponent) << 23);
        }
        for (unsigned i = 0; i < GROUP; i++) {
            codes[i] = code_of(float_of_bfloat16(from[i]) * factor);
        }
        if (format == FP8_UE8M0) {
            scales[group] = (uint8_t)(bits_of(inverse) >> 23);
        } else {
            memcpy(scales + group * sizeof inverse, &inverse, sizeof inverse);
        }
    }
}

/* ---- the end of a rank ---- */

static void run_leave(struct rank *rank) {
    struct expert_words *words;
    struct expert_buffer buffer = make_buffer(rank, sizeof(struct expert_window), &words);
    uint32_t lost = number_of(rank);
    struct parameter parameters[] = {{&buffer, sizeof buffer}, {&lost, sizeof lost}, {NULL, 0}};
    launch(rank, "sluice_experts_leave", 1, EXPERT_RANKS, 0, parameters);
    succeed(rank, words, "sluice_experts_leave");
    /* the other rank may be later */
    cuda_address all[RANKS];
    share(rank, 0, all);
    struct expert_window expected = {0};
    unsigned other = 1 - number_of(rank);
    expected.left[other] = other + 1;
    expect(rank, buffer.windows[number_of(rank)], expected.left, sizeof expected.left, "sluice_experts_leave");
}

void run_rank(struct rank *rank) {
    run_low_latency(rank);
    run_normal(rank);
    run_leave(rank);
}
