package io.sluice.experts.cuda;

import java.util.List;

/** Counts what is started, so that no set is written again before its second half. Of the thread that starts calls. */
final class LowLatencyOrder {
    private final List<LowLatencyResultMemory> results;
    private final long[] started = new long[LowLatencyCall.Kind.values().length];

    LowLatencyOrder(List<LowLatencyResultMemory> results) {
        this.results = results;
    }

    /**
     * Throws if one would write what an earlier one has not received.
     *
     * @param ahead how many of its kind are started before it
     */
    void ensureFree(LowLatencyCall.Kind kind, LowLatencyResultMemory of, int ahead) {
        LowLatencyResultMemory other = results.get(LowLatencyLayout.RESULTS - 1 - of.index());
        if (other.holds(kind.sent, started[kind.ordinal()] + 1 + ahead)) {
            throw new IllegalStateException(
                    "an earlier " + (kind == LowLatencyCall.Kind.DISPATCH ? "dispatch" : "combine")
                            + " waits for its second half: start that first");
        }
    }

    void started(LowLatencyCall.Kind kind, LowLatencyResultMemory of) {
        of.number(++started[kind.ordinal()]);
    }
}
