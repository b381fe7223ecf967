package io.sluice.engine.transport.reordering;

/**
 * Decides what becomes of each packet in one direction of a lane. A decision depends on the seed and the packet's number
 * alone, neither on the time nor on what was decided before, so that a run with the same seed meets the same decisions.
 */
final class Disorder {
    /** The most copies of a packet that are delivered. */
    static final int MOST_COPIES = 3;

    /** The longest that a packet is held, in nanoseconds. */
    static final long LONGEST_DELAY_NANOS = 2_000_000;

    private static final long SHORTEST_STRAGGLE_NANOS = 100_000;
    private static final long LONGEST_JITTER_NANOS = 8_000;

    // one packet in so many
    private static final int TWICE = 8;
    private static final int THRICE = 64;
    private static final int JITTERS = 4;
    private static final int STRAGGLES = 16;

    // a lane that carries very much would take very long if it went on straggling that often
    private static final long OFTEN_UNTIL = 4096;
    private static final int STRAGGLES_LATER = 1024;

    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

    private final long seed;

    private enum Question {
        COPIES,
        JITTERS,
        JITTER,
        STRAGGLES,
        STRAGGLE,
        PLACE
    }

    Disorder(long seed) {
        this.seed = seed;
    }

    /**
     * A seed of a part: of a connection, a lane, a direction.
     *
     * @param seed of the whole
     * @param part the part's number
     * @return its seed
     */
    static long derive(long seed, long part) {
        long mixed = seed + GOLDEN_RATIO * (part + 1);
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /** How often a packet is delivered: 1 to {@link #MOST_COPIES}. */
    int copies(long sequence) {
        if (oneIn(THRICE, Question.COPIES, sequence, 0)) {
            return MOST_COPIES;
        }
        return oneIn(TWICE, Question.COPIES, sequence, 1) ? 2 : 1;
    }

    /** How long a copy is held: 0 to {@link #LONGEST_DELAY_NANOS}. */
    long delayNanos(long sequence, int copy) {
        if (oneIn(sequence < OFTEN_UNTIL ? STRAGGLES : STRAGGLES_LATER, Question.STRAGGLES, sequence, copy)) {
            return SHORTEST_STRAGGLE_NANOS
                    + below(LONGEST_DELAY_NANOS - SHORTEST_STRAGGLE_NANOS + 1, Question.STRAGGLE, sequence, copy);
        }
        return oneIn(JITTERS, Question.JITTERS, sequence, copy)
                ? 1 + below(LONGEST_JITTER_NANOS, Question.JITTER, sequence, copy)
                : 0;
    }

    /** The rank of a copy among those due at once: the least is delivered first. */
    long place(long sequence, int copy) {
        return answer(Question.PLACE, sequence, copy);
    }

    private boolean oneIn(int odds, Question question, long sequence, int copy) {
        return below(odds, question, sequence, copy) == 0;
    }

    private long below(long bound, Question question, long sequence, int copy) {
        return Long.remainderUnsigned(answer(question, sequence, copy), bound);
    }

    private long answer(Question question, long sequence, int copy) {
        return derive(derive(seed, sequence), (long) question.ordinal() * MOST_COPIES + copy);
    }
}
