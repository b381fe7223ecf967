package io.sluice.experts;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of an {@link ExpertBuffer}, the same on all ranks but for time-out and helper threads. Immutable: each method
 * returns new options.
 */
public final class ExpertOptions {
    /** The most experts of all ranks together. */
    public static final int MOST_EXPERTS = 65_536;

    /** The longest hidden vector, in elements. */
    public static final int MOST_HIDDEN = 65_536;

    /** The length of a hidden vector is a multiple of this; each so many channels share a scale. */
    public static final int CHANNELS_OF_A_SCALE = 128;

    /** The most tokens that a rank may dispatch at once. */
    public static final int MOST_TOKENS = 1 << 20;

    /** The most experts of a token. */
    public static final int MOST_TOP_K = 32;

    /** The most helper threads of a rank. */
    public static final int MOST_HELPER_THREADS = 64;

    private static final Duration LONGEST = Duration.ofDays(365);
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);
    private static final int DEFAULT_HIDDEN = 7_168;
    private static final int DEFAULT_TOKENS = 128;
    private static final int DEFAULT_TOP_K = 8;

    private final int experts;
    private final int hidden;
    private final int maxTokensPerRank;
    private final int topK;
    private final @Nullable String backend;
    private final Duration timeout;
    private final boolean lowLatency;
    private final boolean normalMode;
    private final int helperThreads;

    private ExpertOptions(
            int experts,
            int hidden,
            int maxTokensPerRank,
            int topK,
            @Nullable String backend,
            Duration timeout,
            boolean lowLatency,
            boolean normalMode,
            int helperThreads) {
        this.experts = experts;
        this.hidden = hidden;
        this.maxTokensPerRank = maxTokensPerRank;
        this.topK = topK;
        this.backend = backend;
        this.timeout = timeout;
        this.lowLatency = lowLatency;
        this.normalMode = normalMode;
        this.helperThreads = helperThreads;
    }

    /**
     * Returns options for a number of experts, with hidden vectors of 7,168 elements, 128 tokens a rank and 8 experts a
     * token.
     *
     * @param experts of all ranks together, a multiple of the number of ranks; 1 to {@value #MOST_EXPERTS}
     * @return new options
     */
    public static ExpertOptions experts(int experts) {
        check("experts", experts, MOST_EXPERTS);
        return new ExpertOptions(
                experts, DEFAULT_HIDDEN, DEFAULT_TOKENS, DEFAULT_TOP_K, null, DEFAULT_TIMEOUT, true, true, 0);
    }

    private static void check(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(what + " are 1 to " + most + ", not " + value);
        }
    }

    /**
     * Returns these options with the length of a token's vector.
     *
     * @param value elements, a multiple of {@value #CHANNELS_OF_A_SCALE}; at most {@value #MOST_HIDDEN}
     * @return new options
     */
    public ExpertOptions hidden(int value) {
        if (value < CHANNELS_OF_A_SCALE || value > MOST_HIDDEN || value % CHANNELS_OF_A_SCALE != 0) {
            throw new IllegalArgumentException("a hidden vector has a multiple of " + CHANNELS_OF_A_SCALE
                    + " elements, at most " + MOST_HIDDEN + ", not " + value);
        }
        return new ExpertOptions(
                experts, value, maxTokensPerRank, topK, backend, timeout, lowLatency, normalMode, helperThreads);
    }

    /**
     * Returns these options with the most tokens that a rank dispatches at once.
     *
     * @param value 1 to {@value #MOST_TOKENS}
     * @return new options
     */
    public ExpertOptions maxTokensPerRank(int value) {
        check("tokens of a rank", value, MOST_TOKENS);
        return new ExpertOptions(experts, hidden, value, topK, backend, timeout, lowLatency, normalMode, helperThreads);
    }

    /**
     * Returns these options with the number of experts of a token.
     *
     * @param value 1 to {@value #MOST_TOP_K}
     * @return new options
     */
    public ExpertOptions topK(int value) {
        check("experts of a token", value, MOST_TOP_K);
        return new ExpertOptions(
                experts, hidden, maxTokensPerRank, value, backend, timeout, lowLatency, normalMode, helperThreads);
    }

    /**
     * Returns these options with a communication back end. Without a name the environment variable
     * {@code SLUICE_COMM_BACKEND} decides, and without that {@code sluice}.
     *
     * @param name as {@link io.sluice.experts.backend.CommBackendProvider#name()} returns it
     * @return new options
     */
    public ExpertOptions backend(String name) {
        return new ExpertOptions(
                experts,
                hidden,
                maxTokensPerRank,
                topK,
                Objects.requireNonNull(name, "name"),
                timeout,
                lowLatency,
                normalMode,
                helperThreads);
    }

    /**
     * Returns these options with the time that a call may take.
     *
     * @param value positive, at most 365 days; 60 s by default
     * @return new options
     */
    public ExpertOptions timeout(Duration value) {
        if (!value.isPositive() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a time-out is positive and at most " + LONGEST + ", not " + value);
        }
        return new ExpertOptions(
                experts, hidden, maxTokensPerRank, topK, backend, value, lowLatency, normalMode, helperThreads);
    }

    /**
     * Returns these options with or without the low-latency calls. Without them there is no memory for them, which grows with
     * experts × tokens.
     *
     * @param value true by default
     * @return new options
     */
    public ExpertOptions lowLatency(boolean value) {
        return new ExpertOptions(
                experts, hidden, maxTokensPerRank, topK, backend, timeout, value, normalMode, helperThreads);
    }

    /**
     * Returns these options with or without the calls of normal mode, and memory for them.
     *
     * @param value true by default
     * @return new options
     */
    public ExpertOptions normalMode(boolean value) {
        return new ExpertOptions(
                experts, hidden, maxTokensPerRank, topK, backend, timeout, lowLatency, value, helperThreads);
    }

    /**
     * Returns these options with threads of this rank that quantise and pack tokens and add results together with the
     * loop of the team: worth it where processors are idle and a rank has many tokens. Results have the same bits. The
     * threads end with the buffer.
     *
     * @param count 0 to {@value #MOST_HELPER_THREADS}; 0 by default. May differ from rank to rank
     * @return new options
     */
    public ExpertOptions helperThreads(int count) {
        if (count < 0 || count > MOST_HELPER_THREADS) {
            throw new IllegalArgumentException(
                    "there are 0 to " + MOST_HELPER_THREADS + " helper threads, not " + count);
        }
        return new ExpertOptions(
                experts, hidden, maxTokensPerRank, topK, backend, timeout, lowLatency, normalMode, count);
    }

    /**
     * Returns the number of experts.
     *
     * @return of all ranks together
     */
    public int experts() {
        return experts;
    }

    /**
     * Returns the length of a token's vector.
     *
     * @return elements
     */
    public int hidden() {
        return hidden;
    }

    /**
     * Returns the most tokens that a rank dispatches at once.
     *
     * @return 1 or more
     */
    public int maxTokensPerRank() {
        return maxTokensPerRank;
    }

    /**
     * Returns the number of experts of a token.
     *
     * @return 1 or more
     */
    public int topK() {
        return topK;
    }

    /**
     * Returns the name of the communication back end.
     *
     * @return {@code null} if the environment decides
     */
    public @Nullable String backend() {
        return backend;
    }

    /**
     * Returns the time that a call may take.
     *
     * @return positive
     */
    public Duration timeout() {
        return timeout;
    }

    /**
     * Returns whether there are low-latency calls.
     *
     * @return true by default
     */
    public boolean hasLowLatency() {
        return lowLatency;
    }

    /**
     * Returns whether there are the calls of normal mode.
     *
     * @return true by default
     */
    public boolean hasNormalMode() {
        return normalMode;
    }

    /**
     * Returns how many threads quantise, pack and add besides the loop.
     *
     * @return 0 or more
     */
    public int helperThreads() {
        return helperThreads;
    }

    /**
     * Returns the number of experts of each rank: rank r has those from r times this number on.
     *
     * @param ranks the number of ranks
     * @return 1 or more
     * @throws IllegalArgumentException if the experts cannot be divided among so many ranks
     */
    public int localExperts(int ranks) {
        if (ranks < 1 || experts % ranks != 0) {
            throw new IllegalArgumentException(experts + " experts cannot be divided among " + ranks + " ranks");
        }
        return experts / ranks;
    }

    /**
     * Returns about how much memory the low-latency calls take on each rank.
     *
     * @param ranks the number of ranks
     * @return bytes
     * @throws IllegalArgumentException if the experts cannot be divided among so many ranks
     */
    public long lowLatencyBytes(int ranks) {
        return new LowLatencyLayout(this, ranks).bytes();
    }

    /**
     * Returns how much memory the calls of normal mode take on each rank.
     *
     * @param ranks the number of ranks
     * @return bytes
     * @throws IllegalArgumentException if the experts cannot be divided among so many ranks
     * @throws ArithmeticException if they are more than can be counted
     */
    public long normalBytes(int ranks) {
        return new NormalMemory(this, ranks).bytes();
    }

    @Override
    public String toString() {
        return experts + " experts, hidden " + hidden + ", " + maxTokensPerRank + " tokens a rank, top " + topK
                + (lowLatency ? "" : ", no low-latency calls") + (normalMode ? "" : ", no normal mode");
    }
}
