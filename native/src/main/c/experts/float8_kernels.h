/* Quantises rows; see float8.c for scales and special values. */

/*
 * Codes of e4m3fn of finite values that the scale has brought to 448 or, by an error of rounding, just above: nothing
 * saturates. A denormal code is the end of a sum whose last bit is worth the least of them.
 */
INLINE u32_vector codes(u32_vector values, f32_vector factor) {
    u32_vector scaled = (u32_vector)((f32_vector)values * factor);
    u32_vector rest = scaled & 0x7fffffff;
    u32_vector normal = (rest + (0x7ffff - (120u << 23)) + ((rest >> 20) & 1)) >> 20;
    u32_vector denormal = (u32_vector)((f32_vector)rest + 16384.0f) - 0x46800000;
    u32_vector is_denormal = (u32_vector)((s32_vector)rest < 0x3c800000);
    return choose(is_denormal, denormal, normal) | ((scaled >> 24) & 0x80);
}

/* Pairs of codes, one in the lower half of each element. */
INLINE u32_vector code_pairs(const char *from, f32_vector factor) {
    struct halves values = widened(load(from));
    return codes(values.even, factor) | codes(values.odd, factor) << 8;
}

TARGET static void quantize(const char *from, char *to, const struct scale_column *scales, int groups) {
    for (int group = 0; group < groups; group++, from += GROUP_BYTES, to += GROUP) {
        uint32_t greatest = greatest_of(from);
        if (greatest >= 0x7f80) {
            sluice_experts_write_scale(scales, group, sluice_experts_quantize_special(from, to, scales->form));
            continue;
        }
        struct scale scale = sluice_experts_scale(float_of_bits(greatest << 16), scales->form);
        sluice_experts_write_scale(scales, group, scale.inverse);
        f32_vector factor = (f32_vector){} + scale.factor;
#pragma GCC unroll 2
        for (size_t at = 0; at < GROUP; at += WIDTH) {
            u32_vector lower = code_pairs(from + 2 * at, factor);
            u32_vector upper = code_pairs(from + 2 * at + WIDTH, factor);
            store(to + at, (u32_vector)narrowed(lower, upper));
        }
    }
}
