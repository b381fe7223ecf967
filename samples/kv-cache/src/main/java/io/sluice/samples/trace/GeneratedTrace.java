package io.sluice.samples.trace;

import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.TokenLayout;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A trace in the shape of an hour of conversations with a model service: Poisson arrivals, log-normal lengths, a system
 * prompt that nearly all requests start with, conversations that are taken up again, and about 37 % of the blocks
 * repeated. Only full blocks repeat, so inputs all shorter than a block never do. Memory does not grow with the number
 * of requests.
 */
public final class GeneratedTrace implements TraceSource {
    /** The share of blocks that repeat an earlier one. */
    static final double REUSED_BLOCKS = 0.37;

    private static final double MEDIAN_INPUT_TOKENS = 6_230;
    private static final double INPUT_SIGMA = 1.2;
    private static final double MEDIAN_OUTPUT_TOKENS = 350;
    private static final double OUTPUT_SIGMA = 0.9;
    private static final int MAX_OUTPUT_TOKENS = 2_000;
    private static final int REMEMBERED_CONVERSATIONS = 128;
    private static final long SYSTEM_PROMPT = 0;

    private final GeneratedTraceOptions options;
    private final RandomGenerator random;

    /** The full blocks of recent requests, from which others may go on; a ring. */
    private final long[][] conversations = new long[REMEMBERED_CONVERSATIONS][];

    private int remembered;
    private int oldest;
    private double clockMillis;
    private long produced;
    private long blocks;
    private long reusedBlocks;
    private boolean systemPromptSeen;
    private long nextHash = SYSTEM_PROMPT + 1;

    public GeneratedTrace(GeneratedTraceOptions options) {
        this.options = options;
        // Named, because an algorithm's sequence is fixed and the default algorithm is not.
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(options.seed());
    }

    @Override
    public boolean hasNext() {
        return produced < options.requests();
    }

    @Override
    public TraceRequest next() {
        if (!hasNext()) {
            throw new NoSuchElementException("all " + produced + " requests have been generated");
        }
        if (produced > 0) {
            clockMillis += -StrictMath.log(1 - random.nextDouble()) * 1000 / options.requestsPerSecond();
        }
        int maxInput = options.maxInputTokens();
        // With a small limit the whole distribution moves down, so that not nearly all inputs are cut to the limit.
        double median = Math.min(MEDIAN_INPUT_TOKENS, maxInput / 4.0);
        int input = logNormal(median, INPUT_SIGMA, Math.min(maxInput, TokenLayout.PAGE_TOKENS), maxInput);
        int output = logNormal(MEDIAN_OUTPUT_TOKENS, OUTPUT_SIGMA, 1, MAX_OUTPUT_TOKENS);
        produced++;
        return new TraceRequest((long) clockMillis, input, output, BlockHashes.of(hashesFor(input)));
    }

    @Override
    public TraceSource.SkippedLines skipped() {
        return new TraceSource.SkippedLines();
    }

    @Override
    public void close() {}

    private long[] hashesFor(int inputTokens) {
        long[] hashes = new long[TokenLayout.blocks(inputTokens)];
        int fullBlocks = inputTokens / TokenLayout.BLOCK_TOKENS;
        blocks += hashes.length;
        // Each request is steered by how far the blocks so far are from the share wanted, so that the share holds for
        // any limit of the input length.
        double wanted = REUSED_BLOCKS * blocks - reusedBlocks;
        int prefix = 0;
        if (wanted >= 2 && remembered > 0) {
            long[] conversation = conversations[random.nextInt(remembered)];
            prefix = Math.min(conversation.length, fullBlocks);
            System.arraycopy(conversation, 0, hashes, 0, prefix);
            reusedBlocks += prefix;
        } else if (wanted > 0 && fullBlocks > 0) {
            prefix = 1;
            hashes[0] = SYSTEM_PROMPT;
            reusedBlocks += systemPromptSeen ? 1 : 0;
            systemPromptSeen = true;
        }
        for (int i = prefix; i < hashes.length; i++) {
            hashes[i] = nextHash++;
        }
        if (fullBlocks > 0) {
            remember(Arrays.copyOf(hashes, fullBlocks));
        }
        return hashes;
    }

    private void remember(long[] fullBlocks) {
        conversations[oldest] = fullBlocks;
        oldest = (oldest + 1) % REMEMBERED_CONVERSATIONS;
        remembered = Math.min(remembered + 1, REMEMBERED_CONVERSATIONS);
    }

    private int logNormal(double median, double sigma, int min, int max) {
        // Box and Muller's method in strict arithmetic: the same trace on every machine and JDK.
        double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - random.nextDouble()));
        double gaussian = radius * StrictMath.cos(2 * StrictMath.PI * random.nextDouble());
        return Math.clamp(Math.round(median * StrictMath.exp(sigma * gaussian)), min, max);
    }

    /**
     * The parameters of a generated trace.
     *
     * @param requests number of requests, at least 1
     * @param seed equal options and seeds give equal traces
     * @param requestsPerSecond mean arrival rate by the trace's own clock
     */
    public record GeneratedTraceOptions(long requests, long seed, int maxInputTokens, double requestsPerSecond) {
        /** The longest input of the conversations that the generator imitates, in tokens. */
        public static final int DEFAULT_MAX_INPUT_TOKENS = 126_195;

        /** The arrival rate of the conversations that the generator imitates: 12,031 in an hour. */
        public static final double DEFAULT_REQUESTS_PER_SECOND = 3.4;

        public GeneratedTraceOptions {
            if (requests < 1) {
                throw new IllegalArgumentException("a generated trace needs at least one request: " + requests);
            }
            if (maxInputTokens < 1 || maxInputTokens > RequestParser.MAX_TOKENS) {
                throw new IllegalArgumentException("the longest input must have between 1 and "
                        + RequestParser.MAX_TOKENS + " tokens: " + maxInputTokens);
            }
            if (!(requestsPerSecond > 0) || requestsPerSecond > 1e6) {
                throw new IllegalArgumentException(
                        "requests per second must be above 0 and at most 1,000,000: " + requestsPerSecond);
            }
        }

        /** A trace whose requests take a quarter of a page pool each at most, so that several fit into it at once. */
        public static GeneratedTraceOptions fitting(PageGeometry pool, long requests, long seed) {
            long tokens = (long) pool.slots() * TokenLayout.PAGE_TOKENS / 4;
            int longest = Math.clamp(tokens, 1, DEFAULT_MAX_INPUT_TOKENS);
            return new GeneratedTraceOptions(requests, seed, longest, DEFAULT_REQUESTS_PER_SECOND);
        }
    }
}
