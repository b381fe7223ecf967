package io.sluice.testkit;

/** How much a test does: less in every run than in the long ones, which {@code sluice.test.profile} names. */
public final class Extent {
    private static final boolean LONG =
            switch (System.getProperty("sluice.test.profile", "").strip()) {
                case "soak", "large" -> true;
                default -> false;
            };

    private Extent() {}

    /**
     * Whether this is one of the long runs.
     *
     * @return false in every other
     */
    public static boolean isLong() {
        return LONG;
    }

    /**
     * A number of rounds, sizes or inputs.
     *
     * @param usual in every run
     * @param inLongRuns in the long ones
     * @return the number of this run
     */
    public static int of(int usual, int inLongRuns) {
        return LONG ? inLongRuns : usual;
    }
}
