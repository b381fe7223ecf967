/* Quantises rows; see float8.c for special values. */

/*
 * Codes of e4m3fn, plus CODES_ABOVE, of absolute values that the scale has brought to 448 or, by an error of rounding, just
 * above: nothing saturates. In the sum the last bit is worth that of the code, an eighth of the value's power of two, or of
 * 2^-6 for denormal ones.
 */
INLINE u32_vector codes(u32_vector values, f32_vector factor) {
    u32_vector scaled = (u32_vector)((f32_vector)values * factor);
    u32_vector power = (u32_vector)GREATER_WORD(scaled & 0x7f800000, (u32_vector){} + 0x3c800000);
    u32_vector addend = power + (20 << 23);
    return (u32_vector)((f32_vector)scaled + (f32_vector)addend) - addend + (power >> 20);
}

#define CODES_ABOVE (0x3c800000 >> 20)

/* Pairs of codes, one in the lower half of each element. */
INLINE u32_vector code_pairs(const char *from, f32_vector factor) {
    u32_vector pairs = load(from);
    struct halves values = widened(pairs & 0x7fff7fff);
    u32_vector both = codes(values.even, factor) + (codes(values.odd, factor) << 8) - (CODES_ABOVE + (CODES_ABOVE << 8));
    return both | ((pairs >> 8) & 0x80) | ((pairs >> 16) & 0x8000);
}

INLINE void quantize_group(const char *from, char *to, f32_vector factor) {
#pragma GCC unroll 2
    for (size_t at = 0; at < GROUP; at += WIDTH) {
        u32_vector lower = code_pairs(from + 2 * at, factor);
        u32_vector upper = code_pairs(from + 2 * at + WIDTH, factor);
        store(to + at, (u32_vector)narrowed(lower, upper));
    }
}

/* What is done in one go, so that a processor does not wait for the scale of each group. */
#define GROUPS_AT_ONCE 8

TARGET static void quantize(const char *from, char *to, const struct scale_column *scales, int groups) {
    for (int begin = 0; begin < groups; begin += GROUPS_AT_ONCE) {
        int count = groups - begin < GROUPS_AT_ONCE ? groups - begin : GROUPS_AT_ONCE;
        uint32_t greatest[GROUPS_AT_ONCE];
        struct scale scale[GROUPS_AT_ONCE];
        for (int i = 0; i < count; i++) {
            greatest[i] = greatest_of(from + i * GROUP_BYTES);
            scale[i] = scale_of(float_of_bits(greatest[i] << 16), scales->form);
        }
        for (int i = 0; i < count; i++, from += GROUP_BYTES, to += GROUP) {
            if (greatest[i] < 0x7f80) {
                quantize_group(from, to, (f32_vector){} + scale[i].factor);
            } else {
                scale[i].inverse = sluice_experts_quantize_special(from, to, scales->form);
            }
            write_scale(scales, begin + i, scale[i].inverse);
        }
    }
}
