/*
 * The kernels of Sluice. kernels.ptx is what nvcc makes of this file (make kernels), and is committed, as the build has no need of
 * nvcc; a test compares the two where nvcc is there.
 *
 * Every kernel but the tests' takes a struct completion by value, as its last argument. Its last block stores or adds the signal,
 * then stores the word, behind all that the kernel has written, in the order in which the host and other devices see it. A counter
 * in the device's memory finds the last block, and is 0 again afterwards; kernels of one stream share it, as they follow each other.
 */
#include <cstdint>

struct completion {
    uint64_t *signal;   // or NULL
    uint64_t addend;
    uint64_t *word;     // or NULL
    uint64_t value;
    unsigned *blocks;
    unsigned signal_is_store;
    unsigned zero;
};

static const unsigned WARP = 32;
static const unsigned SLICE_BYTES = 4096;

static __device__ void complete(const completion &done) {
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    __threadfence_system();
    if (atomicAdd(done.blocks, 1u) != gridDim.x - 1) {
        return;
    }
    *done.blocks = 0;
    __threadfence_system();
    if (done.signal != nullptr) {
        if (done.signal_is_store) {
            *(volatile uint64_t *)done.signal = done.addend;
        } else {
            atomicAdd_system((unsigned long long *)done.signal, (unsigned long long)done.addend);
        }
        __threadfence_system();
    }
    if (done.word != nullptr) {
        *(volatile uint64_t *)done.word = done.value;
    }
}

/* Elements of one size, four for each lane before the first is stored. */
template <typename Element>
static __device__ void copy_elements(char *to, const char *from, uint64_t count, unsigned lane) {
    Element *target = (Element *)to;
    const Element *source = (const Element *)from;
    uint64_t i = lane;
    for (; i + 3 * WARP < count; i += 4 * WARP) {
        Element a = source[i];
        Element b = source[i + WARP];
        Element c = source[i + 2 * WARP];
        Element d = source[i + 3 * WARP];
        target[i] = a;
        target[i + WARP] = b;
        target[i + 2 * WARP] = c;
        target[i + 3 * WARP] = d;
    }
    for (; i < count; i += WARP) {
        target[i] = source[i];
    }
}

/* Up to a boundary of the element, then elements, then the rest: both ends are aligned alike. */
template <typename Element>
static __device__ void copy_aligned(char *to, const char *from, uint64_t bytes, unsigned lane) {
    uint64_t head = -(uintptr_t)to & (sizeof(Element) - 1);
    if (head > bytes) {
        head = bytes;
    }
    uint64_t count = (bytes - head) / sizeof(Element);
    uint64_t tail = head + count * sizeof(Element);
    if (lane < head) {
        to[lane] = from[lane];
    }
    copy_elements<Element>(to + head, from + head, count, lane);
    if (tail + lane < bytes) {
        to[tail + lane] = from[tail + lane];
    }
}

/* By one warp. */
static __device__ void copy(char *to, const char *from, uint64_t bytes, unsigned lane) {
    unsigned apart = (unsigned)((uintptr_t)to ^ (uintptr_t)from);
    if ((apart & 15) == 0) {
        copy_aligned<uint4>(to, from, bytes, lane);
    } else if ((apart & 3) == 0) {
        copy_aligned<uint32_t>(to, from, bytes, lane);
    } else {
        copy_elements<char>(to, from, bytes, lane);
    }
}

static __device__ uint64_t slices_of(uint64_t bytes) {
    return (bytes + SLICE_BYTES - 1) / SLICE_BYTES;
}

/* Each warp takes one slice of a page after the other; place gives where a page lies. */
template <typename Place>
static __device__ void copy_pages(uint64_t page_bytes, uint64_t pages, Place place) {
    unsigned lane = threadIdx.x % WARP;
    uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint64_t warps = (uint64_t)gridDim.x * blockDim.x / WARP;
    uint64_t slices = slices_of(page_bytes);
    for (uint64_t i = warp; i < pages * slices; i += warps) {
        uint64_t page = i / slices;
        uint64_t at = (i - page * slices) * SLICE_BYTES;
        uint64_t bytes = page_bytes - at < SLICE_BYTES ? page_bytes - at : SLICE_BYTES;
        char *to;
        const char *from;
        place(page, &to, &from);
        copy(to + at, from + at, bytes, lane);
    }
}

/* Pages from and to the offsets in two tables. */
extern "C" __global__ void sluice_copy_pages(
        char *to, const char *from, const uint64_t *to_offsets, const uint64_t *from_offsets, uint64_t page_bytes,
        uint64_t pages, completion done) {
    copy_pages(page_bytes, pages, [=](uint64_t page, char **target, const char **source) {
        *target = to + to_offsets[page];
        *source = from + from_offsets[page];
    });
    complete(done);
}

/* Pages that lie at even distances, such as one layer's of every block. */
extern "C" __global__ void sluice_copy_strided(
        char *to, const char *from, uint64_t to_stride, uint64_t from_stride, uint64_t page_bytes, uint64_t pages,
        completion done) {
    copy_pages(page_bytes, pages, [=](uint64_t page, char **target, const char **source) {
        *target = to + page * to_stride;
        *source = from + page * from_stride;
    });
    complete(done);
}

/* A signal and a word behind what came before on the stream. */
extern "C" __global__ void sluice_signal(completion done) {
    complete(done);
}

/* Adds to a word, or replaces what it holds if that is the expected, atomically in the whole system; stores what it held before. */
extern "C" __global__ void sluice_fetch(
        unsigned long long *word, uint64_t *before, uint64_t operand, uint64_t expected, uint64_t is_swap,
        completion done) {
    if (threadIdx.x == 0) {
        *(volatile uint64_t *)before = is_swap ? atomicCAS_system(word, expected, operand) : atomicAdd_system(word, operand);
    }
    complete(done);
}

/* ---- CRC-32C, reflected: bit 31 is the coefficient of 1 ---- */

static const uint32_t POLYNOMIAL = 0x82f63b78u;

/* x to the power of 2^n; from 31 on it begins again. */
static __constant__ uint32_t powers[31] = {
    0x40000000, 0x20000000, 0x08000000, 0x00800000, 0x00008000, 0x82f63b78, 0x6ea2d55c, 0x18b8ea18,
    0x510ac59a, 0xb82be955, 0xb8fdb1e7, 0x88e56f72, 0x74c360a4, 0xe4172b16, 0x0d65762a, 0x35d73a62,
    0x28461564, 0xbf455269, 0xe2ea32dc, 0xfe7740e6, 0xf946610b, 0x3c204f8f, 0x538586e3, 0x59726915,
    0x734d5309, 0xbc1ac763, 0x7d0722cc, 0xd289cabe, 0xe94ca9bc, 0x05b74f3f, 0xa51e1f42};

static __device__ uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        if (a >> 31) {
            product ^= b;
        }
        b = (b >> 1) ^ ((b & 1) ? POLYNOMIAL : 0);
    }
    return product;
}

static __device__ uint32_t power(uint64_t exponent) {
    uint32_t result = 0x80000000u;
    for (unsigned n = 0; exponent != 0; exponent >>= 1, n = n == 30 ? 0 : n + 1) {
        if (exponent & 1) {
            result = multiply(powers[n], result);
        }
    }
    return result;
}

static const uint64_t CHECKED_BYTES = 1024;

/*
 * The checksum of each stretch of bytes, as if nothing but zeros came before, moved to its place; what all begin with is added
 * by the first. The sums meet in *result, which was 0.
 */
extern "C" __global__ void sluice_checksum(
        const uint8_t *from, uint64_t bytes, unsigned *result, completion done) {
    __shared__ uint32_t table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        uint32_t entry = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            entry = (entry >> 1) ^ ((entry & 1) ? POLYNOMIAL : 0);
        }
        table[i] = entry;
    }
    __syncthreads();
    uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    uint32_t sum = 0;
    if (thread == 0) {
        // the complement at the beginning, moved behind all bytes, and that at the end
        sum = multiply(power(8 * bytes), 0xffffffffu) ^ 0xffffffffu;
    }
    for (uint64_t at = thread * CHECKED_BYTES; at < bytes; at += threads * CHECKED_BYTES) {
        uint64_t end = bytes - at < CHECKED_BYTES ? bytes : at + CHECKED_BYTES;
        uint32_t part = 0;
        for (uint64_t i = at; i < end; i++) {
            part = (part >> 8) ^ table[(part ^ from[i]) & 0xff];
        }
        sum ^= multiply(power(8 * (bytes - end)), part);
    }
    for (unsigned distance = WARP / 2; distance != 0; distance /= 2) {
        sum ^= __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % WARP == 0 && sum != 0) {
        atomicXor(result, sum);
    }
    complete(done);
}

/* ---- for tests ---- */

static __device__ uint8_t pattern(uint64_t seed, uint64_t at) {
    uint64_t x = (seed + at) * 0x9e3779b97f4a7c15ull;
    return (uint8_t)(x >> 56);
}

/* Fills bytes with a pattern of a seed. */
extern "C" __global__ void sluice_fill_pattern(uint8_t *to, uint64_t bytes, uint64_t seed) {
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += threads) {
        to[i] = pattern(seed, i);
    }
}

/* Adds to *different how many bytes are not those of the pattern. */
extern "C" __global__ void sluice_compare_pattern(
        const uint8_t *from, uint64_t bytes, uint64_t seed, unsigned long long *different) {
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += threads) {
        if (from[i] != pattern(seed, i)) {
            atomicAdd_system(different, 1ull);
        }
    }
}

/* Runs until a word is no longer 0, so that a test can have a busy device. */
extern "C" __global__ void sluice_wait(const volatile uint64_t *word) {
    while (*word == 0) {
    }
}
