package io.sluice.experts.cuda;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The graphs of a buffer that are not closed. Any thread. */
final class OpenGraphs {
    private final Set<GpuExpertGraph> graphs = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    GpuExpertGraph added(GpuExpertGraph graph) {
        graphs.add(graph);
        if (isClosed) {
            graph.close();
        }
        return graph;
    }

    void forget(GpuExpertGraph graph) {
        graphs.remove(graph);
    }

    /** Closes all; completes when the driver has none of them, which the modules of their kernels wait for. */
    CompletableFuture<Void> close() {
        isClosed = true;
        return CompletableFuture.allOf(
                graphs.stream().map(GpuExpertGraph::closeAsync).toArray(CompletableFuture[]::new));
    }
}
