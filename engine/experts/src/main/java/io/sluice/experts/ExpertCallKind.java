package io.sluice.experts;

import java.util.Locale;

/** The kinds of calls on an expert buffer. */
public enum ExpertCallKind {
    /** {@link LowLatencyOperations#lowLatencyDispatch}, also with a hook. */
    LOW_LATENCY_DISPATCH,
    /** {@link LowLatencyOperations#lowLatencyCombine}, also with a hook. */
    LOW_LATENCY_COMBINE,
    /** {@link NormalOperations#dispatch} and {@link NormalOperations#dispatchAgain}. */
    DISPATCH,
    /** {@link NormalOperations#combine}. */
    COMBINE;

    /** Returns the name in lower case, with hyphens, as the value of a tag. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
