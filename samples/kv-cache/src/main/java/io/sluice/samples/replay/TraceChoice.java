package io.sluice.samples.replay;

import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.TokenLayout;
import io.sluice.samples.trace.GeneratedTrace;
import io.sluice.samples.trace.GeneratedTrace.GeneratedTraceOptions;
import io.sluice.samples.trace.TraceReader;
import io.sluice.samples.trace.TraceSource;
import java.io.IOException;
import java.nio.file.Path;

/** Where the requests come from. */
public sealed interface TraceChoice {
    record Recorded(Path path, TraceReader.Mode mode) implements TraceChoice {
        /**
         * The trace from its beginning.
         *
         * @throws IOException if the file cannot be opened
         */
        public TraceSource open() throws IOException {
            return TraceReader.open(path, mode);
        }
    }

    /**
     * A generated trace.
     *
     * @param seed equal seeds give equal traces
     */
    record Generated(long requests, long seed) implements TraceChoice {
        /** A generated request takes at most this share of a page pool, so that several fit into it at once. */
        private static final int POOL_SHARE = 4;

        /** A trace whose requests fit into a page pool. */
        public TraceSource open(PageGeometry pool) {
            long tokens = (long) pool.slots() * TokenLayout.PAGE_TOKENS / POOL_SHARE;
            int longest = Math.clamp(tokens, 1, GeneratedTraceOptions.DEFAULT_MAX_INPUT_TOKENS);
            return new GeneratedTrace(
                    GeneratedTraceOptions.ofRequests(requests).withSeed(seed).withMaxInputTokens(longest));
        }
    }
}
