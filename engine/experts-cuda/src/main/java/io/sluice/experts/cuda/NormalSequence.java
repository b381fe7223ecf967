package io.sluice.experts.cuda;

import java.util.ArrayList;
import java.util.List;

/** Calls of normal mode that are started together: what each of them checks and notes when it is started alone. */
final class NormalSequence {
    private final GpuNormalCall[] calls;
    // those that need what no call before them starts
    private final GpuNormalCall[] dependent;

    NormalSequence(List<GpuNormalCall> calls) {
        this.calls = calls.toArray(GpuNormalCall[]::new);
        List<GpuNormalCall> needing = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            if (calls.subList(0, i).stream().noneMatch(calls.get(i)::isEnabledBy)) {
                needing.add(calls.get(i));
            }
        }
        dependent = needing.toArray(GpuNormalCall[]::new);
    }

    /** Throws if what one of them needs was never started. */
    void ensureStartable() {
        for (GpuNormalCall call : dependent) {
            call.ensureStartable();
        }
    }

    void started(long number) {
        for (GpuNormalCall call : calls) {
            call.started(number);
        }
    }
}
