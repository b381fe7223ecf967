package io.sluice.experts;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One point of the crosses: how many ranks exchange which tokens, and by which form of dispatch and combine.
 *
 * @param seed of the tokens
 */
record ExpertCross(
        String transport,
        int ranks,
        int expertsPerRank,
        int hidden,
        int topK,
        Workload.Count count,
        Workload.Routing routing,
        Workload.Mask mask,
        Mode mode,
        Encoding encoding,
        Variant variant,
        int seed) {
    static final List<String> TRANSPORTS = List.of("shm", "tcp", "verbs", "reordering");
    static final int[] RANKS = {1, 2, 3, 4, 8};
    static final int[] EXPERTS_PER_RANK = {1, 3, 4};
    static final int[] HIDDEN = {128, 512, 2048, 7168};
    static final int[] TOP_K = {1, 2, 8};
    private static final int PACKED_GROUP = 512;
    // the last factor that says which tokens there are
    private static final int LAST_OF_TOKENS = 7;

    /** Which of the two pairs of dispatch and combine. */
    enum Mode {
        LOW_LATENCY,
        NORMAL
    }

    /** How elements travel to the experts. */
    enum Encoding {
        BFLOAT16,
        FP8,
        FP8_POWERS_OF_TWO,
        FP8_PACKED_EXPONENTS;

        Numbers.Scales scales() {
            return switch (this) {
                case BFLOAT16, FP8 -> Numbers.Scales.FLOAT32;
                case FP8_POWERS_OF_TWO -> Numbers.Scales.POWERS_OF_TWO;
                case FP8_PACKED_EXPONENTS -> Numbers.Scales.PACKED_EXPONENTS;
            };
        }
    }

    /** The form of the calls; what it means depends on the mode. */
    enum Variant {
        /** The plain calls. */
        PLAIN,
        /** With a hook; or once more with the handle of the first dispatch. */
        HOOK_OR_CACHED,
        /** Outputs are written where they are sent from; or for the worst case of counts. */
        ZERO_COPY_OR_WORST,
        /** LogFMT; or with a bias, and counts of experts that are aligned. */
        LOG_FORMAT_OR_BIAS
    }

    /** A cross in which no encoding asks for more elements than there are. */
    ExpertCross {
        if (encoding == Encoding.FP8_PACKED_EXPONENTS && hidden % PACKED_GROUP != 0) {
            encoding = Encoding.FP8_POWERS_OF_TWO;
        }
    }

    /** The factors' sizes, in the order of {@link #of}. */
    static int[] sizes() {
        return new int[] {
            TRANSPORTS.size(),
            RANKS.length,
            EXPERTS_PER_RANK.length,
            HIDDEN.length,
            TOP_K.length,
            Workload.Count.values().length,
            Workload.Routing.values().length,
            Workload.Mask.values().length,
            Mode.values().length,
            Encoding.values().length,
            Variant.values().length
        };
    }

    static ExpertCross of(int[] row, int seed) {
        return new ExpertCross(
                TRANSPORTS.get(row[0]),
                RANKS[row[1]],
                EXPERTS_PER_RANK[row[2]],
                HIDDEN[row[3]],
                TOP_K[row[4]],
                Workload.Count.values()[row[5]],
                Workload.Routing.values()[row[6]],
                Workload.Mask.values()[row[7]],
                Mode.values()[row[8]],
                Encoding.values()[row[9]],
                Variant.values()[row[10]],
                seed);
    }

    /** All tokens of a transport and number of ranks; forms and experts go round. */
    static List<ExpertCross> all(int transport, int ranks, Random random) {
        List<ExpertCross> all = new ArrayList<>();
        int[] sizes = sizes();
        int[] row = new int[sizes.length];
        row[0] = transport;
        row[1] = ranks;
        int factor = 3;
        while (factor <= LAST_OF_TOKENS) {
            row[2] = random.nextInt(sizes[2]);
            for (int form = LAST_OF_TOKENS + 1; form < row.length; form++) {
                row[form] = random.nextInt(sizes[form]);
            }
            all.add(of(row, random.nextInt(Integer.MAX_VALUE)));
            factor = 3;
            while (factor <= LAST_OF_TOKENS && ++row[factor] == sizes[factor]) {
                row[factor++] = 0;
            }
        }
        return all;
    }

    /** The most tokens of a rank: fewer, where they are long. */
    int maxTokens() {
        return switch (hidden) {
            case 128 -> 65;
            case 512 -> 33;
            case 2048 -> 16;
            default -> 9;
        };
    }

    int experts() {
        return ranks * expertsPerRank;
    }

    Workload workload() {
        return Workload.of(ranks, experts(), hidden, topK, maxTokens(), count, routing, mask, seed);
    }
}
