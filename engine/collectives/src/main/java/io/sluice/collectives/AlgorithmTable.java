package io.sluice.collectives;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Which algorithm {@link Algorithm#AUTO} stands for. All ranks of a team have the same table. Immutable.
 *
 * <p>Text form: a rule a line, the first that fits counts. A rule has four words: the kind of collective, such as {@code
 * all-reduce}; the most ranks, or {@code *}; the most bytes, or {@code *}; the algorithm, such as {@code ring}. The bytes
 * are those of the whole vector of a rank, or of all blocks. Empty lines and what follows a {@code #} do not count.
 */
public final class AlgorithmTable {
    private static final Map<CollectiveKind, Set<Algorithm>> POSSIBLE = new EnumMap<>(Map.ofEntries(
            Map.entry(CollectiveKind.ALL_REDUCE, EnumSet.of(Algorithm.RECURSIVE_DOUBLING, Algorithm.RING)),
            Map.entry(CollectiveKind.REDUCE_SCATTER, EnumSet.of(Algorithm.RING)),
            Map.entry(CollectiveKind.ALL_GATHER, EnumSet.of(Algorithm.RING)),
            Map.entry(CollectiveKind.BROADCAST, EnumSet.of(Algorithm.BINOMIAL)),
            Map.entry(CollectiveKind.REDUCE, EnumSet.of(Algorithm.BINOMIAL)),
            Map.entry(CollectiveKind.GATHER, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.SCATTER, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.ALL_TO_ALL, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.SEND, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.RECEIVE, EnumSet.of(Algorithm.DIRECT)),
            Map.entry(CollectiveKind.BARRIER, EnumSet.of(Algorithm.DISSEMINATION))));
    private static final String ANY = "*";
    private static final AlgorithmTable DEFAULTS = parse("""
            all-reduce * 16384 recursive-doubling
            all-reduce * * ring
            """);

    private final List<Rule> rules;

    private record Rule(CollectiveKind kind, long mostRanks, long mostBytes, Algorithm algorithm) {
        boolean fits(CollectiveKind which, int ranks, long bytes) {
            return kind == which && ranks <= mostRanks && bytes <= mostBytes;
        }

        String text() {
            return kind + " " + text(mostRanks) + " " + text(mostBytes) + " " + algorithm;
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
        if (words.length != 4) {
            throw new IllegalArgumentException("a rule is a kind, the most ranks, the most bytes and an algorithm");
        }
        CollectiveKind kind = CollectiveKind.parse(words[0]);
        Algorithm algorithm = Algorithm.parse(words[3]);
        check(kind, algorithm);
        return new Rule(kind, most(words[1]), most(words[2]), algorithm);
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

    /**
     * Chooses an algorithm.
     *
     * @param kind the kind of collective
     * @param ranks the number of ranks
     * @param bytes the length of the whole vector of a rank, or of all blocks
     * @return never {@link Algorithm#AUTO}
     */
    public Algorithm choose(CollectiveKind kind, int ranks, long bytes) {
        for (Rule rule : rules) {
            if (rule.fits(kind, ranks, bytes)) {
                return rule.algorithm;
            }
        }
        return equals(DEFAULTS) ? possible(kind).iterator().next() : DEFAULTS.choose(kind, ranks, bytes);
    }

    Algorithm choose(Algorithm asked, CollectiveKind kind, int ranks, long bytes) {
        if (asked == Algorithm.AUTO) {
            return choose(kind, ranks, bytes);
        }
        check(kind, asked);
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
