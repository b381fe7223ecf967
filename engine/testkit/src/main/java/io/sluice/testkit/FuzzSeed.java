package io.sluice.testkit;

import java.util.Locale;
import java.util.Random;

/** The same damage at every run, with its seed in the log, and as much of it as the profile wants. */
public final class FuzzSeed {
    private static final long DEFAULT = 20_240_229L;

    private final long seed;

    private FuzzSeed(long seed) {
        this.seed = seed;
    }

    /**
     * The seed of the property {@code sluice.test.seed}, or the default; printed.
     *
     * @param test the name that the log gives it
     * @return the seed
     */
    public static FuzzSeed of(String test) {
        long seed = Long.getLong("sluice.test.seed", DEFAULT);
        System.out.println(test + ": -Dsluice.test.seed=" + seed);
        return new FuzzSeed(seed);
    }

    /**
     * A sequence that is the same for the same seed.
     *
     * @return a new generator
     */
    public Random random() {
        return new Random(seed);
    }

    /**
     * One of many such sequences.
     *
     * @param number which one
     * @return a new generator
     */
    public Random random(int number) {
        return new Random(seed + 31L * number);
    }

    /**
     * How often to do what the standard profile does so many times.
     *
     * @param standard the number in the standard profile
     * @return the number in this run, at least 1
     */
    public int scaled(int standard) {
        String profile = System.getProperty("sluice.test.profile", "standard").strip();
        return switch (profile.toLowerCase(Locale.ROOT)) {
            case "small" -> Math.max(1, standard / 10);
            case "large", "soak" -> standard * 10;
            default -> standard;
        };
    }
}
