/* The twins of the kernels in kernels.cu. An argument is a multiple of 8 bytes here, as all of theirs are. */
#include "gpu.h"

#include <string.h>

struct completion {
    uint64_t signal;
    uint64_t addend;
    uint64_t word;
    uint64_t value;
    uint64_t blocks;
    uint32_t signal_is_store;
    uint32_t zero;
};

static bool complete(int ordinal, const uint8_t *at) {
    struct completion done;
    memcpy(&done, at, sizeof done);
    uint32_t *blocks = reach(ordinal, done.blocks, sizeof *blocks);
    if (blocks == NULL || *blocks != 0) {
        return false;
    }
    if (done.signal != 0) {
        uint64_t *signal = done.signal % 8 == 0 ? reach(ordinal, done.signal, sizeof *signal) : NULL;
        if (signal == NULL) {
            return false;
        }
        if (done.signal_is_store) {
            __atomic_store_n(signal, done.addend, __ATOMIC_SEQ_CST);
        } else {
            __atomic_fetch_add(signal, done.addend, __ATOMIC_SEQ_CST);
        }
    }
    if (done.word != 0) {
        uint64_t *word = done.word % 8 == 0 ? reach(ordinal, done.word, sizeof *word) : NULL;
        if (word == NULL) {
            return false;
        }
        __atomic_store_n(word, done.value, __ATOMIC_SEQ_CST);
    }
    return true;
}

struct pages {
    uint64_t to;
    uint64_t from;
    uint64_t to_places;
    uint64_t from_places;
    uint64_t page_bytes;
    uint64_t pages;
};

static bool copy_page(int ordinal, const struct pages *pages, uint64_t to_offset, uint64_t from_offset) {
    void *to = reach(ordinal, pages->to + to_offset, pages->page_bytes);
    const void *from = reach(ordinal, pages->from + from_offset, pages->page_bytes);
    if (to == NULL || from == NULL) {
        return false;
    }
    memmove(to, from, pages->page_bytes);
    return true;
}

static bool copy_pages(int ordinal, const uint8_t *arguments) {
    struct pages pages;
    memcpy(&pages, arguments, sizeof pages);
    const uint64_t *to = reach(ordinal, pages.to_places, pages.pages * sizeof *to);
    const uint64_t *from = reach(ordinal, pages.from_places, pages.pages * sizeof *from);
    bool is_good = to != NULL && from != NULL;
    for (uint64_t i = 0; is_good && i < pages.pages; i++) {
        is_good = copy_page(ordinal, &pages, to[i], from[i]);
    }
    return is_good && complete(ordinal, arguments + sizeof pages);
}

static bool copy_strided(int ordinal, const uint8_t *arguments) {
    struct pages pages;
    memcpy(&pages, arguments, sizeof pages);
    bool is_good = true;
    for (uint64_t i = 0; is_good && i < pages.pages; i++) {
        is_good = copy_page(ordinal, &pages, i * pages.to_places, i * pages.from_places);
    }
    return is_good && complete(ordinal, arguments + sizeof pages);
}

static uint64_t word_at(const uint8_t *arguments, int index) {
    uint64_t word;
    memcpy(&word, arguments + (size_t)index * sizeof word, sizeof word);
    return word;
}

static bool fetch(int ordinal, const uint8_t *arguments) {
    uint64_t *word = word_at(arguments, 0) % 8 == 0 ? reach(ordinal, word_at(arguments, 0), sizeof *word) : NULL;
    uint64_t *before = word_at(arguments, 1) % 8 == 0 ? reach(ordinal, word_at(arguments, 1), sizeof *before) : NULL;
    if (word == NULL || before == NULL) {
        return false;
    }
    uint64_t operand = word_at(arguments, 2);
    uint64_t held = word_at(arguments, 3);
    if (word_at(arguments, 4) != 0) {
        __atomic_compare_exchange_n(word, &held, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    } else {
        held = __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    }
    *before = held;
    return complete(ordinal, arguments + 5 * sizeof(uint64_t));
}

static uint32_t crc_32c(const uint8_t *bytes, uint64_t length) {
    uint32_t sum = ~UINT32_C(0);
    for (uint64_t i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = (sum >> 1) ^ (sum & 1 ? UINT32_C(0x82f63b78) : 0);
        }
    }
    return ~sum;
}

static bool checksum(int ordinal, const uint8_t *arguments) {
    uint64_t length = word_at(arguments, 1);
    const uint8_t *bytes = reach(ordinal, word_at(arguments, 0), length);
    uint32_t *result = reach(ordinal, word_at(arguments, 2), sizeof *result);
    if (bytes == NULL || result == NULL) {
        return false;
    }
    *result ^= crc_32c(bytes, length);
    return complete(ordinal, arguments + 3 * sizeof(uint64_t));
}

static uint8_t pattern(uint64_t seed, uint64_t at) {
    return (uint8_t)((seed + at) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static bool fill_pattern(int ordinal, const uint8_t *arguments) {
    uint64_t length = word_at(arguments, 1);
    uint8_t *bytes = reach(ordinal, word_at(arguments, 0), length);
    for (uint64_t i = 0; bytes != NULL && i < length; i++) {
        bytes[i] = pattern(word_at(arguments, 2), i);
    }
    return bytes != NULL;
}

static bool compare_pattern(int ordinal, const uint8_t *arguments) {
    uint64_t length = word_at(arguments, 1);
    const uint8_t *bytes = reach(ordinal, word_at(arguments, 0), length);
    uint64_t *different = reach(ordinal, word_at(arguments, 3), sizeof *different);
    for (uint64_t i = 0; bytes != NULL && different != NULL && i < length; i++) {
        *different += bytes[i] != pattern(word_at(arguments, 2), i);
    }
    return bytes != NULL && different != NULL;
}

static bool has_word(int ordinal, const uint8_t *arguments) {
    const uint64_t *word = reach(ordinal, word_at(arguments, 0), sizeof *word);
    return word == NULL || __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

static bool wait(int ordinal, const uint8_t *arguments) {
    return reach(ordinal, word_at(arguments, 0), sizeof(uint64_t)) != NULL;
}

/* Of a program of the user's, in samples/snippets. */
static bool add_one(int ordinal, const uint8_t *arguments) {
    uint64_t count = word_at(arguments, 1);
    uint64_t *numbers = reach(ordinal, word_at(arguments, 0), count * sizeof *numbers);
    for (uint64_t i = 0; numbers != NULL && i < count; i++) {
        numbers[i]++;
    }
    return numbers != NULL;
}

#define DONE sizeof(struct completion)

static const struct twin twins[] = {
    {.name = "sluice_copy_pages", .arguments = {8, 8, 8, 8, 8, 8, DONE}, .run = copy_pages},
    {.name = "sluice_copy_strided", .arguments = {8, 8, 8, 8, 8, 8, DONE}, .run = copy_strided},
    {.name = "sluice_signal", .arguments = {DONE}, .run = complete},
    {.name = "sluice_fetch", .arguments = {8, 8, 8, 8, 8, DONE}, .run = fetch},
    {.name = "sluice_checksum", .arguments = {8, 8, 8, DONE}, .run = checksum},
    {.name = "sluice_fill_pattern", .arguments = {8, 8, 8}, .run = fill_pattern},
    {.name = "sluice_compare_pattern", .arguments = {8, 8, 8, 8}, .run = compare_pattern},
    {.name = "add_one", .arguments = {8, 8}, .run = add_one},
    {.name = "sluice_wait", .arguments = {8}, .run = wait, .is_ready = has_word},
};

/* Of other source files; each ends with one that has no name. */
static const struct twin *const others[] = {
    collective_twins, expert_twins, expert_low_latency_twins, normal_twins};

const struct twin *twin_of(const char *name) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        if (strcmp(twins[i].name, name) == 0) {
            return &twins[i];
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        for (const struct twin *twin = others[i]; twin->name != NULL; twin++) {
            if (strcmp(twin->name, name) == 0) {
                return twin;
            }
        }
    }
    return NULL;
}
