/* Bytes from one rank to another, in memory that both map. One thread of each side at a time. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A message with its length, of any that is sent here at once. */
#define CHANNEL_BYTES ((size_t)(1 << 20) + 8192)

struct channel {
    _Alignas(64) atomic_uint_fast64_t written;
    _Alignas(64) atomic_uint_fast64_t taken;
    char bytes[CHANNEL_BYTES];
};

/* As much as there is room for; returns how much. */
static inline size_t write_some(struct channel *channel, const void *bytes, size_t length) {
    uint64_t written = atomic_load_explicit(&channel->written, memory_order_relaxed);
    size_t room = CHANNEL_BYTES - (size_t)(written - atomic_load_explicit(&channel->taken, memory_order_acquire));
    size_t count = length < room ? length : room;
    for (size_t done = 0; done < count; ) {
        size_t at = (written + done) % CHANNEL_BYTES;
        size_t part = count - done < CHANNEL_BYTES - at ? count - done : CHANNEL_BYTES - at;
        memcpy(channel->bytes + at, (const char *)bytes + done, part);
        done += part;
    }
    atomic_store_explicit(&channel->written, written + count, memory_order_release);
    return count;
}

/* As much as has come; returns how much. */
static inline size_t take_some(struct channel *channel, void *bytes, size_t length) {
    uint64_t taken = atomic_load_explicit(&channel->taken, memory_order_relaxed);
    size_t there = (size_t)(atomic_load_explicit(&channel->written, memory_order_acquire) - taken);
    size_t count = length < there ? length : there;
    for (size_t done = 0; done < count; ) {
        size_t at = (taken + done) % CHANNEL_BYTES;
        size_t part = count - done < CHANNEL_BYTES - at ? count - done : CHANNEL_BYTES - at;
        memcpy((char *)bytes + done, channel->bytes + at, part);
        done += part;
    }
    atomic_store_explicit(&channel->taken, taken + count, memory_order_release);
    return count;
}

/* All of a head, or nothing. */
static inline bool take_head(struct channel *channel, void *head, size_t length) {
    uint64_t there = atomic_load_explicit(&channel->written, memory_order_acquire)
            - atomic_load_explicit(&channel->taken, memory_order_relaxed);
    return there >= length && take_some(channel, head, length) == length;
}

/* All of it, or nothing. */
static inline bool write_head(struct channel *channel, const void *head, size_t length) {
    uint64_t used = atomic_load_explicit(&channel->written, memory_order_relaxed)
            - atomic_load_explicit(&channel->taken, memory_order_acquire);
    return CHANNEL_BYTES - used >= length && write_some(channel, head, length) == length;
}

#endif
