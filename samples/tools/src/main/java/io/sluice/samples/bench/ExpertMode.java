package io.sluice.samples.bench;

import java.util.Locale;

/** Which calls of an expert buffer to measure. */
public enum ExpertMode {
    LOW_LATENCY(128),
    NORMAL(4_096);

    private final int usualTokens;

    ExpertMode(int usualTokens) {
        this.usualTokens = usualTokens;
    }

    /** How many tokens a rank usually has at once. */
    public int usualTokens() {
        return usualTokens;
    }

    /** Its name as an option's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
