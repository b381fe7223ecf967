package io.sluice.collectives;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which algorithm {@link Algorithm#AUTO} stands for. All ranks of a team have the same table. Immutable.
 *
 * <p>Text form: a rule a line, the first that fits counts. A rule has four or five words: the kind of collective, such as
 * {@code all-reduce}; if it is for one transport only, that one, such as {@code tcp}; the most ranks, or {@code *}; the most
 * bytes, or {@code *}; the algorithm, such as {@code ring}. The bytes are those of the whole vector of a rank, or of all
 * blocks. The transport is the one by which all ranks reach each other; {@code tcp} if some do by tcp only. A rule counts
 * only where its algorithm can: recursive doubling gathers from a power of two of ranks. Empty lines and what follows a
 * {@code #} do not count. An all-to-all with counts a rank, whose lengths not all ranks know, is {@code mapped} if the
 * largest one would be, else pairwise, unless its options say otherwise.
 */
public final class AlgorithmTable {
    private static final Map<CollectiveKind, Set<Algorithm>> POSSIBLE = new EnumMap<>(Map.ofEntries(
            Map.entry(
                    CollectiveKind.ALL_REDUCE,
                    EnumSet.of(
                            Algorithm.RECURSIVE_DOUBLING,
                            Algorithm.RING,
                            Algorithm.FLAT,
                            Algorithm.RABENSEIFNER,
                            Algorithm.MAPPED)),
            Map.entry(
                    CollectiveKind.REDUCE_SCATTER,
                    EnumSet.of(Algorithm.RING, Algorithm.RECURSIVE_HALVING, Algorithm.MAPPED)),
            Map.entry(
                    CollectiveKind.ALL_GATHER,
                    EnumSet.of(Algorithm.RING, Algorithm.RECURSIVE_DOUBLING, Algorithm.BRUCK, Algorithm.MAPPED)),
            Map.entry(
                    CollectiveKind.BROADCAST,
                    EnumSet.of(Algorithm.BINOMIAL, Algorithm.SCATTER_ALL_GATHER, Algorithm.MAPPED)),
            Map.entry(CollectiveKind.REDUCE, EnumSet.of(Algorithm.BINOMIAL, Algorithm.MAPPED)),
            Map.entry(CollectiveKind.GATHER, EnumSet.of(Algorithm.DIRECT, Algorithm.MAPPED)),
            Map.entry(CollectiveKind.SCATTER, EnumSet.of(Algorithm.DIRECT, Algorithm.MAPPED)),
            Map.entry(
                    CollectiveKind.ALL_TO_ALL,
                    EnumSet.of(Algorithm.DIRECT, Algorithm.BRUCK, Algorithm.PAIRWISE, Algorithm.MAPPED)),
            Map.entry(CollectiveKind.SEND, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.RECEIVE, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.BARRIER, EnumSet.of(Algorithm.DISSEMINATION))));
    private static final String ANY = "*";
    private static final Pattern TRANSPORT = Pattern.compile("[a-z][a-z0-9_-]*");
    private static final AlgorithmTable DEFAULTS = parse("""
            all-reduce 4 4096 flat
            all-reduce * 8192 recursive-doubling
            all-reduce shm * * mapped
            all-reduce 2 131072 recursive-doubling
            all-reduce 2 33554432 rabenseifner
            all-reduce * 16384 recursive-doubling
            all-reduce * 524288 rabenseifner
            all-reduce * * ring
            reduce-scatter * 8192 recursive-halving
            reduce-scatter shm * * mapped
            reduce-scatter * 65536 recursive-halving
            reduce-scatter * * ring
            all-gather * 8192 bruck
            all-gather shm * * mapped
            all-gather * 16384 bruck
            all-gather * 131072 recursive-doubling
            all-gather * * ring
            broadcast * 8192 binomial
            broadcast shm * * mapped
            broadcast 2 * binomial
            broadcast * 32767 binomial
            broadcast * * scatter-all-gather
            reduce * 8192 binomial
            reduce shm * * mapped
            gather * 8192 direct
            gather shm * * mapped
            scatter * 8192 direct
            scatter shm * * mapped
            all-to-all 3 8192 direct
            all-to-all * 2048 bruck
            all-to-all * 8192 direct
            all-to-all shm * * mapped
            all-to-all * 65536 direct
            all-to-all * * pairwise
            """);

    private final List<Rule> rules;

    private record Rule(CollectiveKind kind, String transport, long mostRanks, long mostBytes, Algorithm algorithm) {
        boolean fits(CollectiveKind which, String used, int ranks, long bytes) {
            return kind == which
                    && (transport.equals(ANY) || transport.equals(used))
                    && ranks <= mostRanks
                    && bytes <= mostBytes
                    && serves(kind, algorithm, ranks);
        }

        String text() {
            return kind + (transport.equals(ANY) ? " " : " " + transport + " ") + text(mostRanks) + " "
                    + text(mostBytes) + " " + algorithm;
        }

        private static String text(long most) {
            return most == Long.MAX_VALUE ? ANY : Long.toString(most);
        }
    }

    private AlgorithmTable(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /**
     * Returns the built-in table.
     *
     * @return the table
     */
    public static AlgorithmTable defaults() {
        return DEFAULTS;
    }

    /**
     * Parses the text form. Where no rule fits, the built-in algorithm counts.
     *
     * @param text the rules
     * @return the table
     * @throws IllegalArgumentException if a line has another form, or names an algorithm that does not serve the kind;
     *     the message names the line
     */
    public static AlgorithmTable parse(String text) {
        List<Rule> rules = new ArrayList<>();
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            String rule = line.replaceFirst("#.*", "").strip();
            if (!rule.isEmpty()) {
                try {
                    rules.add(rule(rule.split("\\s+")));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
                }
            }
        }
        return new AlgorithmTable(rules);
    }

    private static Rule rule(String[] words) {
        if (words.length < 4 || words.length > 5) {
            throw new IllegalArgumentException(
                    "a rule is a kind, a transport if it is for one only, the most ranks, the most bytes and an algorithm");
        }
        int next = 0;
        CollectiveKind kind = CollectiveKind.parse(words[next++]);
        String transport = words.length == 5 ? transport(words[next++]) : ANY;
        long ranks = most(words[next++]);
        long bytes = most(words[next++]);
        Algorithm algorithm = Algorithm.parse(words[next]);
        check(kind, algorithm);
        return new Rule(kind, transport, ranks, bytes, algorithm);
    }

    private static String transport(String word) {
        if (!word.equals(ANY) && !TRANSPORT.matcher(word).matches()) {
            throw new IllegalArgumentException("'" + word + "' is neither the name of a transport, such as tcp, nor *");
        }
        return word;
    }

    private static long most(String word) {
        if (word.equals(ANY)) {
            return Long.MAX_VALUE;
        }
        try {
            long value = Long.parseLong(word);
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IllegalArgumentException("'" + word + "' is neither a number of 0 or more nor *");
    }

    private static void check(CollectiveKind kind, Algorithm algorithm) {
        if (!possible(kind).contains(algorithm)) {
            throw new IllegalArgumentException(algorithm + " does not serve " + kind + "; possible: " + possible(kind));
        }
    }

    /**
     * Returns the algorithms that serve a kind.
     *
     * @param kind the kind
     * @return one or more
     */
    public static Set<Algorithm> possible(CollectiveKind kind) {
        return EnumSet.copyOf(Objects.requireNonNull(POSSIBLE.get(kind)));
    }

    /** Whether an algorithm can serve so many ranks. */
    private static boolean serves(CollectiveKind kind, Algorithm algorithm, int ranks) {
        boolean powersOnly = kind == CollectiveKind.ALL_GATHER && algorithm == Algorithm.RECURSIVE_DOUBLING;
        return !powersOnly || Integer.bitCount(ranks) == 1;
    }

    /**
     * Chooses an algorithm for ranks that have no transport in common.
     *
     * @param kind the kind of collective
     * @param ranks the number of ranks
     * @param bytes the length of the whole vector of a rank, or of all blocks
     * @return never {@link Algorithm#AUTO}
     */
    public Algorithm choose(CollectiveKind kind, int ranks, long bytes) {
        return choose(kind, "", ranks, bytes);
    }

    /**
     * Chooses an algorithm.
     *
     * @param kind the kind of collective
     * @param transport the one by which all ranks reach each other, such as {@code shm}; another text fits only rules that
     *     name no transport
     * @param ranks the number of ranks
     * @param bytes the length of the whole vector of a rank, or of all blocks
     * @return never {@link Algorithm#AUTO}
     */
    public Algorithm choose(CollectiveKind kind, String transport, int ranks, long bytes) {
        for (Rule rule : rules) {
            if (rule.fits(kind, transport, ranks, bytes)) {
                return rule.algorithm;
            }
        }
        return equals(DEFAULTS) ? possible(kind).iterator().next() : DEFAULTS.choose(kind, transport, ranks, bytes);
    }

    /** Chooses the algorithm that counts where ranks cannot read each other's memory. */
    Algorithm chooseUnmapped(CollectiveKind kind, String transport, int ranks, long bytes) {
        for (Rule rule : rules) {
            if (rule.algorithm != Algorithm.MAPPED && rule.fits(kind, transport, ranks, bytes)) {
                return rule.algorithm;
            }
        }
        return equals(DEFAULTS)
                ? possible(kind).iterator().next()
                : DEFAULTS.chooseUnmapped(kind, transport, ranks, bytes);
    }

    Algorithm choose(Algorithm asked, CollectiveKind kind, String transport, int ranks, long bytes) {
        if (asked == Algorithm.AUTO) {
            return choose(kind, transport, ranks, bytes);
        }
        check(kind, asked);
        if (!serves(kind, asked, ranks)) {
            throw new IllegalArgumentException(
                    asked + " serves " + kind + " only with a power of two of ranks, not with " + ranks);
        }
        return asked;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AlgorithmTable table && table.rules.equals(rules);
    }

    @Override
    public int hashCode() {
        return rules.hashCode();
    }

    /** Returns the text form that {@link #parse} reads. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        rules.forEach(rule -> text.append(rule.text()).append('\n'));
        return text.toString();
    }
}
