/* Weighted sums: each product is rounded, then added and rounded. */

/* How far each operand is fetched ahead; beyond its end it has no effect. */
#define AHEAD_BYTES 512
#define LINE_BYTES 64
#define VECTORS 4

INLINE struct halves added(struct halves sum, struct halves values, f32_vector weight) {
    f32_vector even = (f32_vector)values.even * weight;
    f32_vector odd = (f32_vector)values.odd * weight;
    return (struct halves){
        .even = (u32_vector)((f32_vector)sum.even + even),
        .odd = (u32_vector)((f32_vector)sum.odd + odd),
    };
}

TARGET static void sum(const struct sum_job *job) {
    size_t bytes = (size_t)job->groups * GROUP_BYTES;
    for (size_t at = 0; at < bytes; at += VECTORS * WIDTH) {
        struct halves sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {};
        for (int i = 0; i < job->operands; i++) {
            const char *from = job->from[i] + at;
            f32_vector weight = (f32_vector){} + job->weights[i];
#pragma GCC unroll 4
            for (size_t line = 0; line < VECTORS * WIDTH; line += LINE_BYTES) {
                __builtin_prefetch((const void *)((uintptr_t)from + line + AHEAD_BYTES));
            }
            sum0 = added(sum0, widened(load(from)), weight);
            sum1 = added(sum1, widened(load(from + WIDTH)), weight);
            sum2 = added(sum2, widened(load(from + 2 * WIDTH)), weight);
            sum3 = added(sum3, widened(load(from + 3 * WIDTH)), weight);
        }
        store(job->to + at, narrowed_bf16(sum0));
        store(job->to + at + WIDTH, narrowed_bf16(sum1));
        store(job->to + at + 2 * WIDTH, narrowed_bf16(sum2));
        store(job->to + at + 3 * WIDTH, narrowed_bf16(sum3));
    }
}

TARGET static void sum_logfmt(const struct sum_job *job) {
    const char *data[SLUICE_EXPERTS_OPERANDS + 1];
    for (int i = 0; i < job->operands; i++) {
        data[i] = job->from[i] + EXTREMES_BYTES * job->groups;
    }
    int most = section_groups(job->groups);
    for (int begin = 0; begin < job->groups; begin += most) {
        int count = job->groups - begin < most ? job->groups - begin : most;
        struct halves sums[SECTION_GROUPS * GROUP_BYTES / WIDTH];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < job->operands; i++) {
            struct extremes extremes[SECTION_GROUPS];
            bool encoded = read_extremes(job->from[i] + EXTREMES_BYTES * begin, count, extremes);
            f32_vector weight = (f32_vector){} + job->weights[i];
            struct halves *sum = sums;
            for (int group = 0; group < count; group++) {
                if (!encoded) {
                    for (size_t at = 0; at < GROUP_BYTES; at += WIDTH, sum++) {
                        *sum = added(*sum, widened(load(data[i] + at)), weight);
                    }
                    data[i] += GROUP_BYTES;
                    continue;
                }
                struct logarithms logarithms = logarithms_of(extremes[group]);
                f32_vector low = (f32_vector){} + logarithms.low;
                f32_vector step = (f32_vector){} + logarithms.step;
                uint64_t pairs[GROUP / 4];
                unpack_group(data[i], pairs);
                for (size_t at = 0; at < GROUP_BYTES; at += WIDTH, sum++) {
                    *sum = added(*sum, decoded(pairs, at, low, step), weight);
                }
                data[i] += ENCODED_BYTES;
            }
        }
        char *to = job->to + (size_t)begin * GROUP_BYTES;
        for (size_t at = 0; at < (size_t)count * GROUP_BYTES; at += WIDTH) {
            store(to + at, narrowed_bf16(sums[at / WIDTH]));
        }
    }
}

const struct experts_variant VARIANT = {
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .sum = sum,
    .sum_logfmt = sum_logfmt,
};
