package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Options of a team on one rank. Immutable: each method returns new options. */
public final class TeamOptions {
    /** The most ranks of a team. */
    public static final int MOST_RANKS = 1024;

    /** The most helper threads. */
    public static final int MOST_HELPER_THREADS = 64;

    /** The longest name, in bytes of UTF-8. */
    public static final int LONGEST_NAME = 100;

    private static final Duration LONGEST = Duration.ofDays(365);
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);
    private static final long DEFAULT_SCRATCH = 16L << 20;

    private final int rank;
    private final int size;
    private final @Nullable Rendezvous rendezvous;
    private final String name;
    private final Duration timeout;
    private final Duration formTimeout;
    private final long scratchBytes;
    private final AlgorithmTable algorithms;
    private final int helperThreads;

    private TeamOptions(
            int rank,
            int size,
            @Nullable Rendezvous rendezvous,
            String name,
            Duration timeout,
            Duration formTimeout,
            long scratchBytes,
            AlgorithmTable algorithms,
            int helperThreads) {
        this.rank = rank;
        this.size = size;
        this.rendezvous = rendezvous;
        this.name = name;
        this.timeout = timeout;
        this.formTimeout = formTimeout;
        this.scratchBytes = scratchBytes;
        this.algorithms = algorithms;
        this.helperThreads = helperThreads;
    }

    /**
     * Returns the options of a rank. A team of more than one rank needs its {@linkplain #of size} and a rendezvous.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return new options for a team of this rank alone
     */
    public static TeamOptions rank(int rank) {
        if (rank < 0 || rank >= MOST_RANKS) {
            throw new IllegalArgumentException("a rank is 0 to " + (MOST_RANKS - 1) + ", not " + rank);
        }
        return new TeamOptions(
                rank,
                rank + 1,
                null,
                "team",
                DEFAULT_TIMEOUT,
                DEFAULT_TIMEOUT,
                DEFAULT_SCRATCH,
                AlgorithmTable.defaults(),
                0);
    }

    /**
     * Returns these options with the number of ranks.
     *
     * @param ranks more than this rank, at most {@value #MOST_RANKS}
     * @return new options
     */
    public TeamOptions of(int ranks) {
        if (ranks <= rank || ranks > MOST_RANKS) {
            throw new IllegalArgumentException(
                    "with rank " + rank + " there are " + (rank + 1) + " to " + MOST_RANKS + " ranks, not " + ranks);
        }
        return new TeamOptions(
                rank, ranks, rendezvous, name, timeout, formTimeout, scratchBytes, algorithms, helperThreads);
    }

    /**
     * Returns these options with the address of the engine of rank 0, where the ranks find each other.
     *
     * @param rankZero the address
     * @return new options
     */
    public TeamOptions rendezvous(EngineAddress rankZero) {
        return rendezvous(new AddressRendezvous(rankZero));
    }

    /**
     * Returns these options with another way for the ranks to find each other.
     *
     * @param value the rendezvous
     * @return new options
     */
    public TeamOptions rendezvous(Rendezvous value) {
        return new TeamOptions(
                rank,
                size,
                Objects.requireNonNull(value, "value"),
                name,
                timeout,
                formTimeout,
                scratchBytes,
                algorithms,
                helperThreads);
    }

    /**
     * Returns these options with the team's name, which tells it from other teams of the same engines.
     *
     * @param value the same on all ranks; 1 to {@value #LONGEST_NAME} bytes of UTF-8
     * @return new options
     */
    public TeamOptions name(String value) {
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > LONGEST_NAME) {
            throw new IllegalArgumentException("a team's name is 1 to " + LONGEST_NAME + " bytes, not " + bytes);
        }
        return new TeamOptions(
                rank, size, rendezvous, value, timeout, formTimeout, scratchBytes, algorithms, helperThreads);
    }

    /**
     * Returns these options with the time that a collective may take, if its own options name none.
     *
     * @param value positive, at most 365 days; 60 s by default
     * @return new options
     */
    public TeamOptions timeout(Duration value) {
        return new TeamOptions(
                rank,
                size,
                rendezvous,
                name,
                checkTimeout(value),
                formTimeout,
                scratchBytes,
                algorithms,
                helperThreads);
    }

    /**
     * Returns these options with the time that the ranks may take to find each other and connect.
     *
     * @param value positive, at most 365 days; 60 s by default
     * @return new options
     */
    public TeamOptions formTimeout(Duration value) {
        return new TeamOptions(
                rank, size, rendezvous, name, timeout, checkTimeout(value), scratchBytes, algorithms, helperThreads);
    }

    /**
     * Returns these options with the memory that this rank gives the team for messages on their way.
     *
     * @param value bytes, the same on all ranks; 16 MiB by default. With n ranks at least 43 KiB × (n − 1)
     * @return new options
     */
    public TeamOptions scratchBytes(long value) {
        if (value <= 0) {
            throw new IllegalArgumentException("scratch memory is positive, not " + value);
        }
        return new TeamOptions(rank, size, rendezvous, name, timeout, formTimeout, value, algorithms, helperThreads);
    }

    /**
     * Returns these options with the table by which {@link Algorithm#AUTO} chooses.
     *
     * @param value the same on all ranks
     * @return new options
     */
    public TeamOptions algorithms(AlgorithmTable value) {
        return new TeamOptions(
                rank,
                size,
                rendezvous,
                name,
                timeout,
                formTimeout,
                scratchBytes,
                Objects.requireNonNull(value, "value"),
                helperThreads);
    }

    /**
     * Returns these options with threads of this rank that reduce large messages, while the loop of the team moves bytes:
     * worth it where processors are idle and reductions take as long as the bytes are on their way. Reductions out of
     * mapped memory are the loop's.
     *
     * @param count 0 to {@value #MOST_HELPER_THREADS}; 0 by default. May differ from rank to rank
     * @return new options
     */
    public TeamOptions helperThreads(int count) {
        if (count < 0 || count > MOST_HELPER_THREADS) {
            throw new IllegalArgumentException(
                    "there are 0 to " + MOST_HELPER_THREADS + " helper threads, not " + count);
        }
        return new TeamOptions(rank, size, rendezvous, name, timeout, formTimeout, scratchBytes, algorithms, count);
    }

    static Duration checkTimeout(Duration value) {
        if (!value.isPositive() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a time-out is positive and at most " + LONGEST + ", not " + value);
        }
        return value;
    }

    TeamOptions at(int newRank, int newSize) {
        return new TeamOptions(
                newRank, newSize, rendezvous, name, timeout, formTimeout, scratchBytes, algorithms, helperThreads);
    }

    /**
     * Returns this rank.
     *
     * @return 0 or more
     */
    public int rank() {
        return rank;
    }

    /**
     * Returns the number of ranks.
     *
     * @return 1 or more
     */
    public int size() {
        return size;
    }

    /**
     * Returns how the ranks find each other.
     *
     * @return {@code null} if nothing was named
     */
    public @Nullable Rendezvous rendezvous() {
        return rendezvous;
    }

    /**
     * Returns the team's name.
     *
     * @return {@code team} by default
     */
    public String name() {
        return name;
    }

    /**
     * Returns the time that a collective may take.
     *
     * @return positive
     */
    public Duration timeout() {
        return timeout;
    }

    /**
     * Returns the time that forming the team may take.
     *
     * @return positive
     */
    public Duration formTimeout() {
        return formTimeout;
    }

    /**
     * Returns the memory for messages on their way.
     *
     * @return bytes
     */
    public long scratchBytes() {
        return scratchBytes;
    }

    /**
     * Returns the table of algorithms.
     *
     * @return the table
     */
    public AlgorithmTable algorithms() {
        return algorithms;
    }

    /**
     * Returns how many threads reduce large messages besides the loop.
     *
     * @return 0 or more
     */
    public int helperThreads() {
        return helperThreads;
    }
}
