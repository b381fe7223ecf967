#include "collective.h"

#include <stdlib.h>
#include <string.h>

/* A prime: neither a stale result nor a part in a wrong place looks right. */
#define LENGTH 65521u
#define STEP 7919u
/* Sums of all ranks are exact. */
#define MOST 4096u
#define POISON 0xa5

static float *given;
static float *reduced;

bool content_make(int rank, int ranks) {
    given = calloc(LENGTH, sizeof(float));
    reduced = calloc(LENGTH, sizeof(float));
    if (given == NULL || reduced == NULL) {
        return false;
    }
    for (int from = 0; from < ranks; from++) {
        uint64_t state = 0x510ce + (uint64_t)from;
        for (size_t i = 0; i < LENGTH; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            float value = (float)(1 + (state >> 33) % MOST);
            reduced[i] += value;
            if (from == rank) {
                given[i] = value;
            }
        }
    }
    return true;
}

static size_t position(uint64_t operation) {
    return (size_t)(operation % LENGTH * STEP % LENGTH);
}

static size_t shorter(size_t a, size_t b) {
    return a < b ? a : b;
}

static void put(float *memory, size_t count, uint64_t operation) {
    size_t at = position(operation);
    for (size_t done = 0; done < count;) {
        size_t part = shorter(count - done, LENGTH - at);
        memcpy(memory + done, given + at, part * sizeof(float));
        done += part;
        at = 0;
    }
}

static bool is_in(const float *memory, const float *table, size_t count, uint64_t operation) {
    size_t at = position(operation);
    for (size_t done = 0; done < count;) {
        size_t part = shorter(count - done, LENGTH - at);
        if (memcmp(memory + done, table + at, part * sizeof(float)) != 0) {
            return false;
        }
        done += part;
        at = 0;
    }
    return true;
}

void content_fill(float *source, float *target, size_t count, uint64_t operation, bool in_place) {
    put(source, count, operation);
    if (in_place) {
        put(target, count, operation);
    } else {
        memset(target, POISON, count * sizeof(float));
    }
}

bool content_is_right(const float *source, const float *target, size_t count, uint64_t operation, bool in_place) {
    return is_in(target, reduced, count, operation) && (in_place || is_in(source, given, count, operation));
}
