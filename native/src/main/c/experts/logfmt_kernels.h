/*
 * LogFMT of 10 bits, as DeepEP's low-latency combine sends it (deepseek-ai/DeepEP, csrc/kernels/legacy/internode_ll.cu:
 * logfmt_encode, logfmt_check_amaxmin, decode_and_accumulate). A row is:
 *
 *     for each group of 128 channels: greatest |x|, least |x| as bfloat16
 *     for each section (1,024 channels where the row is a multiple of them, else 512), without gaps:
 *         encoded, for each 16 channels 20 bytes: 16 codes of 9 bits from the lowest on, 16 signs; or as it was
 *
 * A section is encoded if the logarithms of all its groups' extremes have high < 0 and low < high. With low raised to high -
 * 32 and step = (high - low) / 510, a code is floor((log2|x| - low) / step + r), at least 0, where r = 2 - log2((1 + 2^step) /
 * 2) / step puts the bounds between codes half-way between their values; code 0 is zero, and code c is 2^(low + (c - 1) *
 * step).
 *
 * DeepEP takes its GPU's approximate logarithm and power, and folds low into r. Here both are polynomials within 2^-22 of the
 * value, in float32 with each step rounded; the difference to low is taken first, so that the extremes have codes 1 and 511
 * however it is rounded; and r is its series 3/2 - step * ln(2) / 8, which is exact to 2^-21 for every step. Near the bounds a
 * code may so differ by one from DeepEP's.
 */

#define SECTION_GROUPS 8
#define SHORT_SECTION_GROUPS 4
#define EXTREMES_BYTES 4
#define UNITS (GROUP / 16)
#define UNIT_BYTES 20
#define ENCODED_BYTES (UNITS * UNIT_BYTES)

#define CODE_BITS 9
#define CODE_MASK 0x1ff
#define STEPS 510
#define CLIPPED_FROM 32.0f
/* ln(2) / 8 */
#define ROUNDING_SLOPE 0.0866433978f

#define ONE_BFLOAT16 0x3f80
#define LEAST_NORMAL_BFLOAT16 0x0080
#define LEAST_EXPONENT (-126)

/* Of 1 + x for x from 0 to 1, over x. */
#define LOGARITHM(x) \
    (((((((-0.0123706432f * (x) + 0.0637875944f) * (x)-0.155599967f) * (x) + 0.25617969f) * (x)-0.353454679f) * (x) \
       + 0.48007375f) \
              * (x) \
      - 0.721310735f) \
             * (x) \
     + 1.44269478f)
/* 2^x for x from -1 to 0; 1 for 0. */
#define POWER(x) \
    ((((((0.000114980845f * (x) + 0.00129178935f) * (x) + 0.00959716924f) * (x) + 0.055499278f) * (x) + 0.240226105f) \
              * (x) \
      + 0.693147182f) \
             * (x) \
     + 1.0f)

struct logarithms {
    float low;
    float step;
};

static inline bool is_encoded(struct extremes extremes) {
    return extremes.greatest < ONE_BFLOAT16 && extremes.greatest >= LEAST_NORMAL_BFLOAT16
            && extremes.least < extremes.greatest;
}

static inline float logarithm(uint32_t normal) {
    float exponent = (float)((int32_t)(normal >> 7) - 127);
    float x = float_of_bits(((normal & 0x7f) << 16) | 0x3f800000) - 1.0f;
    return exponent + LOGARITHM(x) * x;
}

static inline struct logarithms logarithms_of(struct extremes extremes) {
    float high = logarithm(extremes.greatest);
    float low = high - CLIPPED_FROM;
    if (extremes.least >= LEAST_NORMAL_BFLOAT16 && logarithm(extremes.least) > low) {
        low = logarithm(extremes.least);
    }
    return (struct logarithms){.low = low, .step = (high - low) / (float)STEPS};
}

static inline int section_groups(int groups) {
    return groups % SECTION_GROUPS == 0 ? SECTION_GROUPS : SHORT_SECTION_GROUPS;
}

/* Absolute values as float32 to codes. */
INLINE u32_vector log_codes(u32_vector values, f32_vector low, f32_vector inverse, f32_vector rounding) {
    f32_vector exponent = __builtin_convertvector((s32_vector)(values >> 23) - 127, f32_vector);
    f32_vector x = (f32_vector)((values & 0x7fffff) | 0x3f800000) - 1.0f;
    f32_vector logarithm = exponent + LOGARITHM(x) * x;
    f32_vector code = (logarithm - low) * inverse + rounding;
    u32_vector is_above = (u32_vector)(code > 0.0f) & (u32_vector)((s32_vector)values >= LEAST_NORMAL_BFLOAT16 << 16);
    return (u32_vector)__builtin_convertvector((f32_vector)((u32_vector)code & is_above), s32_vector) & CODE_MASK;
}

#if defined(__x86_64__)

/* The signs of 16 channels. */
static inline uint32_t signs_of(const char *from) {
    __m128i lower = _mm_loadu_si128((const __m128i *)(const void *)from);
    __m128i upper = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(lower, upper));
}

#else

static inline uint32_t signs_of(const char *from) {
    uint32_t signs = 0;
    for (int i = 0; i < 16; i++) {
        uint16_t value;
        memcpy(&value, from + 2 * i, sizeof value);
        signs |= (uint32_t)(value >> 15) << i;
    }
    return signs;
}

#endif

INLINE void encode_group(const char *from, char *to, struct logarithms logarithms) {
    f32_vector low = (f32_vector){} + logarithms.low;
    f32_vector inverse = (f32_vector){} + 1.0f / logarithms.step;
    f32_vector rounding = (f32_vector){} + (1.5f - logarithms.step * ROUNDING_SLOPE);
    /* 36 bits each: the codes of 4 channels. */
    uint64_t fours[GROUP / 4];
    for (size_t at = 0; at < GROUP_BYTES; at += WIDTH) {
        struct halves values = widened(load(from + at) & 0x7fff7fff);
        u32_vector pairs = log_codes(values.even, low, inverse, rounding)
                | log_codes(values.odd, low, inverse, rounding) << CODE_BITS;
        u64_vector two = (u64_vector)pairs;
        u64_vector joint = (two & 0x3ffff) | (two >> 32 << 18);
        memcpy((char *)fours + at, &joint, WIDTH);
    }
    for (size_t unit = 0; unit < UNITS; unit++, to += UNIT_BYTES) {
        const uint64_t *four = fours + 4 * unit;
        uint64_t words[2] = {four[0] | four[1] << 36, four[1] >> 28 | four[2] << 8 | four[3] << 44};
        uint32_t last = (uint32_t)(four[3] >> 20) | signs_of(from + 32 * unit) << 16;
        memcpy(to, words, sizeof words);
        memcpy(to + sizeof words, &last, sizeof last);
    }
}

TARGET static size_t encode(const char *from, char *to, int groups) {
    char *extremes_at = to;
    char *data = to + EXTREMES_BYTES * groups;
    int most = section_groups(groups);
    for (int begin = 0; begin < groups; begin += most) {
        int count = groups - begin < most ? groups - begin : most;
        struct extremes extremes[SECTION_GROUPS];
        bool encoded = true;
        for (int i = 0; i < count; i++, extremes_at += EXTREMES_BYTES) {
            extremes[i] = extremes_of(from + i * GROUP_BYTES);
            encoded = encoded && is_encoded(extremes[i]);
            uint32_t both = extremes[i].greatest | extremes[i].least << 16;
            memcpy(extremes_at, &both, sizeof both);
        }
        if (encoded) {
            for (int i = 0; i < count; i++, data += ENCODED_BYTES) {
                encode_group(from + i * GROUP_BYTES, data, logarithms_of(extremes[i]));
            }
        } else {
            memcpy(data, from, (size_t)count * GROUP_BYTES);
            data += count * GROUP_BYTES;
        }
        from += count * GROUP_BYTES;
    }
    return (size_t)(data - to);
}

/* The bits of each pair of channels in one element of 32 bits: two codes from the lowest bit on, two signs in the highest. */
static inline void unpack_group(const char *from, uint64_t *pairs) {
    static const uint64_t spread[] = {
        0x0000000000000000, 0x0000000040000000, 0x0000000080000000, 0x00000000c0000000,
        0x4000000000000000, 0x4000000040000000, 0x4000000080000000, 0x40000000c0000000,
        0x8000000000000000, 0x8000000040000000, 0x8000000080000000, 0x80000000c0000000,
        0xc000000000000000, 0xc000000040000000, 0xc000000080000000, 0xc0000000c0000000,
    };
    for (size_t unit = 0; unit < UNITS; unit++, from += UNIT_BYTES) {
        uint64_t words[2];
        uint32_t last;
        memcpy(words, from, sizeof words);
        memcpy(&last, from + sizeof words, sizeof last);
        const uint64_t fours[] = {
            words[0], words[0] >> 36 | words[1] << 28, words[1] >> 8, words[1] >> 44 | (uint64_t)last << 20};
        for (size_t i = 0; i < 4; i++) {
            pairs[4 * unit + i] = (fours[i] & 0x3ffff) | (fours[i] >> 18 & 0x3ffff) << 32
                    | spread[last >> (16 + 4 * i) & 0xf];
        }
    }
}

INLINE u32_vector log_values(u32_vector codes, u32_vector signs, f32_vector low, f32_vector step) {
    f32_vector steps = __builtin_convertvector((s32_vector)codes - 1, f32_vector);
    f32_vector logarithm = steps * step + low;
    s32_vector exponent = __builtin_convertvector(logarithm, s32_vector);
    f32_vector x = logarithm - __builtin_convertvector(exponent, f32_vector);
    u32_vector value = (u32_vector)(POWER(x)) + ((u32_vector)exponent << 23);
    u32_vector is_above = (u32_vector)((s32_vector)codes > 0) & (u32_vector)(logarithm >= (float)LEAST_EXPONENT);
    return (value & is_above) | signs;
}

INLINE struct halves decoded(const uint64_t *pairs, size_t at, f32_vector low, f32_vector step) {
    u32_vector both = load((const char *)pairs + at);
    return (struct halves){
        .even = log_values(both & CODE_MASK, (both << 1) & 0x80000000, low, step),
        .odd = log_values((both >> CODE_BITS) & CODE_MASK, both & 0x80000000, low, step),
    };
}

/* Reads the extremes of a section's groups, and returns whether it is encoded. */
static inline bool read_extremes(const char *from, int count, struct extremes *extremes) {
    bool encoded = true;
    for (int i = 0; i < count; i++) {
        uint32_t both = (uint32_t)read_int32(from + i * EXTREMES_BYTES);
        extremes[i] = (struct extremes){.greatest = both & 0xffff, .least = both >> 16};
        encoded = encoded && is_encoded(extremes[i]);
    }
    return encoded;
}

INLINE void write_decoded(char *to, bool is_float32, size_t at, struct halves values) {
    if (!is_float32) {
        store(to + at, narrowed_bf16(values));
        return;
    }
    for (size_t i = 0; i < WIDTH / 4; i++) {
        const uint32_t pair[] = {values.even[i], values.odd[i]};
        memcpy(to + 2 * at + 8 * i, pair, sizeof pair);
    }
}

TARGET static void decode(const char *from, char *to, bool is_float32, int groups) {
    const char *data = from + EXTREMES_BYTES * groups;
    int most = section_groups(groups);
    size_t step_bytes = is_float32 ? 2 * GROUP_BYTES : GROUP_BYTES;
    for (int begin = 0; begin < groups; begin += most) {
        int count = groups - begin < most ? groups - begin : most;
        struct extremes extremes[SECTION_GROUPS];
        bool encoded = read_extremes(from + EXTREMES_BYTES * begin, count, extremes);
        for (int i = 0; i < count; i++, to += step_bytes) {
            uint64_t pairs[GROUP / 4];
            struct logarithms logarithms = {.low = 0};
            if (encoded) {
                logarithms = logarithms_of(extremes[i]);
                unpack_group(data, pairs);
            }
            for (size_t at = 0; at < GROUP_BYTES; at += WIDTH) {
                struct halves values = encoded
                        ? decoded(pairs, at, (f32_vector){} + logarithms.low, (f32_vector){} + logarithms.step)
                        : widened(load(data + at));
                write_decoded(to, is_float32, at, values);
            }
            data += encoded ? ENCODED_BYTES : GROUP_BYTES;
        }
    }
}
