package io.sluice.experts.cuda;

import java.util.concurrent.CompletableFuture;

/** The calls of one mode of a buffer, and what they need apart from the {@link BufferCore}. */
interface GpuMode {
    /** Refuses further calls; completes when those that were started are done and nothing of it is left. */
    CompletableFuture<Void> close();
}
