package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/** The tokens of all ranks, where they go, and what comes of it, computed one by one. */
final class TokenData {
    private static final ValueLayout.OfShort BF16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    final ExpertOptions options;
    final int ranks;
    final int[] tokens;
    final MemoryRegion[] x;
    final MemoryRegion[] topkIdx;
    final MemoryRegion[] weights;
    final MemoryRegion[] out;

    /** How experts are chosen. */
    enum Choice {
        /** Different ones, of all. */
        RANDOM,
        /** Some of them none. */
        MASKED,
        /** The first of each token is expert 0, the others none. */
        ONE_EXPERT,
        /** None of rank 0. */
        NOT_THE_FIRST_RANK
    }

    TokenData(ExpertRanks ranks, ExpertOptions options, int[] tokens, Choice choice, long seed) {
        this.options = options;
        this.ranks = ranks.size();
        this.tokens = tokens;
        this.x = new MemoryRegion[this.ranks];
        this.topkIdx = new MemoryRegion[this.ranks];
        this.weights = new MemoryRegion[this.ranks];
        this.out = new MemoryRegion[this.ranks];
        long slots = (long) options.maxTokensPerRank() * options.topK();
        for (int rank = 0; rank < this.ranks; rank++) {
            x[rank] = ranks.region(rank, (long) options.maxTokensPerRank() * rowBytes());
            topkIdx[rank] = ranks.region(rank, slots * Long.BYTES);
            weights[rank] = ranks.region(rank, slots * Float.BYTES);
            out[rank] = ranks.region(rank, (long) options.maxTokensPerRank() * rowBytes());
        }
        fill(choice, seed);
    }

    int rowBytes() {
        return options.hidden() * Short.BYTES;
    }

    int localExperts() {
        return options.localExperts(ranks);
    }

    int rowsOfExpert() {
        return ranks * options.maxTokensPerRank();
    }

    /** Draws all. */
    void fill(Choice choice, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int rank = 0; rank < ranks; rank++) {
            for (int token = 0; token < tokens[rank]; token++) {
                for (int i = 0; i < options.hidden(); i++) {
                    x[rank].segment()
                            .set(BF16, token * (long) rowBytes() + 2L * i, bf16((float) random.nextGaussian()));
                }
                choose(rank, token, choice, random);
            }
        }
    }

    private void choose(int rank, int token, Choice choice, SplittableRandom random) {
        boolean[] chosen = new boolean[options.experts()];
        for (int k = 0; k < options.topK(); k++) {
            long slot = (long) token * options.topK() + k;
            long expert = choice == Choice.ONE_EXPERT
                    ? k == 0 ? 0 : -1
                    : draw(choice == Choice.NOT_THE_FIRST_RANK ? localExperts() : 0, chosen, random);
            if (choice == Choice.MASKED && random.nextInt(3) == 0) {
                expert = -1;
            }
            topkIdx[rank].segment().set(LONG, slot * Long.BYTES, expert);
            weights[rank].segment().set(FLOAT, slot * Float.BYTES, random.nextFloat());
        }
    }

    private long draw(int from, boolean[] chosen, SplittableRandom random) {
        int expert;
        do {
            expert = from + random.nextInt(options.experts() - from);
        } while (chosen[expert]);
        chosen[expert] = true;
        return expert;
    }

    int expert(int rank, int token, int k) {
        return (int) topkIdx[rank].segment().get(LONG, ((long) token * options.topK() + k) * Long.BYTES);
    }

    /** Checks what a rank has received: the layout, and each row against that of its token. */
    void checkReceived(int rank, LowLatencyResult result) {
        for (int local = 0; local < localExperts(); local++) {
            int expert = rank * localExperts() + local;
            int begin = 0;
            for (int source = 0; source < ranks; source++) {
                int count = 0;
                boolean[] sent = new boolean[tokens[source]];
                for (int token = 0; token < tokens[source]; token++) {
                    for (int k = 0; k < options.topK(); k++) {
                        if (expert(source, token, k) == expert) {
                            sent[token] = true;
                            count++;
                        }
                    }
                }
                long range = result.ranges().segment().get(LONG, ((long) local * ranks + source) * Long.BYTES);
                assertThat(range)
                        .as("range of rank %d at expert %d", source, expert)
                        .isEqualTo(((long) begin << 32) | count);
                for (int row = begin; row < begin + count; row++) {
                    int token = token(result, local, row);
                    assertThat(token).isBetween(0, tokens[source] - 1);
                    assertThat(sent[token])
                            .as("token %d of rank %d once", token, source)
                            .isTrue();
                    sent[token] = false;
                    checkRow(result, local, row, source, token);
                }
                begin += count;
            }
            assertThat(result.count(local)).isEqualTo(begin);
            assertThat(result.counts().segment().get(INT, 4L * local)).isEqualTo(begin);
        }
    }

    int token(LowLatencyResult result, int local, int row) {
        return result.sources().segment().get(INT, ((long) local * rowsOfExpert() + row) * Integer.BYTES);
    }

    private void checkRow(LowLatencyResult result, int local, int row, int source, int token) {
        if (result.format() == DispatchFormat.BF16) {
            assertThat(result.tokens()
                            .segment()
                            .asSlice(((long) local * rowsOfExpert() + row) * rowBytes(), rowBytes())
                            .mismatch(x[source].segment().asSlice((long) token * rowBytes(), rowBytes())))
                    .as("expert %d, row %d: token %d of rank %d", local, row, token, source)
                    .isEqualTo(-1);
        } else {
            new QuantisedRow(options.hidden(), result.format())
                    .check(
                            x[source].segment().asSlice((long) token * rowBytes(), rowBytes()),
                            result,
                            local,
                            row,
                            rowsOfExpert());
        }
    }

    /** The experts of a rank: expert e multiplies by e + 1 what it got, here taken from the tokens themselves. */
    void applyExperts(int rank, LowLatencyResult result, MemoryRegion y) {
        y.segment().fill((byte) 0x7F);
        for (int local = 0; local < localExperts(); local++) {
            int expert = rank * localExperts() + local;
            for (int source = 0; source < ranks; source++) {
                long range = result.ranges().segment().get(LONG, ((long) local * ranks + source) * Long.BYTES);
                for (int row = (int) (range >>> 32); row < (int) (range >>> 32) + (int) range; row++) {
                    int token = token(result, local, row);
                    for (int i = 0; i < options.hidden(); i++) {
                        y.segment()
                                .set(
                                        BF16,
                                        ((long) local * rowsOfExpert() + row) * rowBytes() + 2L * i,
                                        output(expert, source, token, i));
                    }
                }
            }
        }
    }

    private short output(int expert, int rank, int token, int channel) {
        return bf16((expert + 1) * value(x[rank].segment(), (long) token * rowBytes() + 2L * channel));
    }

    /** Checks the sums of a rank. */
    void checkCombined(int rank) {
        for (int token = 0; token < tokens[rank]; token++) {
            for (int i = 0; i < options.hidden(); i++) {
                float sum = 0;
                for (int k = 0; k < options.topK(); k++) {
                    int expert = expert(rank, token, k);
                    if (expert >= 0) {
                        float weight =
                                weights[rank].segment().get(FLOAT, ((long) token * options.topK() + k) * Float.BYTES);
                        sum += weight * Float.intBitsToFloat(output(expert, rank, token, i) << 16);
                    }
                }
                short expected = bf16(sum);
                short actual = out[rank].segment().get(BF16, (long) token * rowBytes() + 2L * i);
                if (expected != actual) {
                    fail("token %d of rank %d, channel %d: %x and not %x", token, rank, i, actual, expected);
                }
            }
        }
    }

    /** The largest difference of a rank's sums from the exact ones, relative to the largest sum. */
    double combinedError(int rank) {
        double square = 0;
        double all = 0;
        for (int token = 0; token < tokens[rank]; token++) {
            for (int i = 0; i < options.hidden(); i++) {
                double sum = 0;
                for (int k = 0; k < options.topK(); k++) {
                    int expert = expert(rank, token, k);
                    if (expert >= 0) {
                        sum += weights[rank].segment().get(FLOAT, ((long) token * options.topK() + k) * Float.BYTES)
                                * Float.intBitsToFloat(output(expert, rank, token, i) << 16);
                    }
                }
                double difference = value(out[rank].segment(), (long) token * rowBytes() + 2L * i) - sum;
                square += difference * difference;
                all += sum * sum;
            }
        }
        return Math.sqrt(square / all);
    }

    private static float value(MemorySegment memory, long at) {
        return Float.intBitsToFloat(memory.get(BF16, at) << 16);
    }

    /** To nearest even; of finite values. */
    static short bf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }
}
