package io.sluice.experts.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Calls in whole that are started together: what each of them checks and counts when it is started alone. Of the thread that starts calls. */
final class LowLatencySequence {
    private final LowLatencyCall[] calls;
    // of each result that they have: the first call with it, how far it is after the last, and before the start under
    // way
    private final LowLatencyCall[] firsts;
    private final int[] after;
    private final int[] before;

    /**
     * Makes one.
     *
     * @throws IllegalArgumentException if a result would be combined twice
     */
    LowLatencySequence(List<LowLatencyCall> calls) {
        this.calls = calls.toArray(LowLatencyCall[]::new);
        List<LowLatencyCall> of = new ArrayList<>();
        int[] phases = new int[calls.size()];
        for (LowLatencyCall call : calls) {
            int at = 0;
            while (at < of.size() && of.get(at).result() != call.result()) {
                at++;
            }
            if (at == of.size()) {
                of.add(call);
            } else if (call.kind() == LowLatencyCall.Kind.COMBINE && phases[at] == LowLatencyCall.Kind.COMBINE.done) {
                throw new IllegalArgumentException("a result is combined once for each dispatch");
            }
            phases[at] = call.kind().done;
        }
        firsts = of.toArray(LowLatencyCall[]::new);
        after = Arrays.copyOf(phases, firsts.length);
        before = new int[firsts.length];
    }

    /** Begins to start them, until {@link #settle}; throws if one of them cannot be started. */
    void begin() {
        int begun = 0;
        boolean isRefused = true;
        try {
            for (; begun < firsts.length; begun++) {
                before[begun] = firsts[begun].begin();
            }
            int dispatches = 0;
            int combines = 0;
            for (LowLatencyCall call : calls) {
                boolean isDispatch = call.kind() == LowLatencyCall.Kind.DISPATCH;
                call.ensureFree(isDispatch ? dispatches++ : combines++);
            }
            isRefused = false;
        } finally {
            if (isRefused) {
                settle(before, begun);
            }
        }
    }

    /** They were started, or refused. */
    void settle(boolean isStarted) {
        if (isStarted) {
            for (LowLatencyCall call : calls) {
                call.started();
            }
        }
        settle(isStarted ? after : before, firsts.length);
    }

    private void settle(int[] phases, int count) {
        for (int i = 0; i < count; i++) {
            firsts[i].result().memory().state().settle(phases[i]);
        }
    }
}
