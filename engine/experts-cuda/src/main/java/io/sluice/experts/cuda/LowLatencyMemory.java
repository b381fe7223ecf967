package io.sluice.experts.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What low-latency mode has on this rank alone. */
record LowLatencyMemory(LowLatencyLayout layout, List<LowLatencyResultMemory> results, KernelModule kernels) {
    /** Completes when nothing of it is left. */
    CompletableFuture<Void> release() {
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        results.forEach(result -> parts.add(result.release()));
        parts.add(kernels.close());
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    }
}
