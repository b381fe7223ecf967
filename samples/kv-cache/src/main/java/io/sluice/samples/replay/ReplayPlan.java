package io.sluice.samples.replay;

import io.sluice.samples.prefill.Phases;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How much of a trace is replayed, and when.
 *
 * @param requests the most requests to send; {@link Long#MAX_VALUE} for all
 * @param pacing when they are sent
 * @param duration how long new requests are sent, or {@code null} for as long as there are any
 * @param phases whether filling, writing and checking pages overlap; if not, there is one request at a time
 */
public record ReplayPlan(
        long requests, Pacing pacing, @Nullable Duration duration, Phases phases) {}
