package io.sluice.samples.trace;

import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.TokenLayout;

/**
 * One request of a trace.
 *
 * @param timestampMillis when it arrived, in milliseconds from the trace's own origin
 * @param inputTokens tokens of its input, at least 1
 * @param blockHashes one hash for each block of the input, the partial last one included
 */
public record TraceRequest(long timestampMillis, int inputTokens, int outputTokens, BlockHashes blockHashes) {
    /** Checks the ranges, and that the hashes are as many as the input's blocks. */
    public TraceRequest {
        if (timestampMillis < 0) {
            throw new IllegalArgumentException("timestamp must not be negative: " + timestampMillis);
        }
        if (inputTokens < 1) {
            throw new IllegalArgumentException("input tokens must be positive: " + inputTokens);
        }
        if (outputTokens < 0) {
            throw new IllegalArgumentException("output tokens must not be negative: " + outputTokens);
        }
        if (blockHashes.size() != TokenLayout.blocks(inputTokens)) {
            throw new IllegalArgumentException(inputTokens + " input tokens are " + TokenLayout.blocks(inputTokens)
                    + " blocks, but there are " + blockHashes.size() + " hashes");
        }
    }
}
