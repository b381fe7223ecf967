package io.sluice.testkit;

import io.sluice.engine.EngineOptions;
import java.time.Duration;

/**
 * Options for engines of tests, whose connects outlast what a busy machine does to them, and whose pollers leave the
 * processor to others soon: they are idle most of the time.
 */
public final class PatientOptions {
    private static final Duration SPIN = Duration.ofNanos(5_000);
    private static final Duration YIELD = Duration.ofNanos(50_000);

    private PatientOptions() {}

    /**
     * Default ones, but for the time that a connect may take on either side, and, except in the long runs, for how long an
     * idle poller spins and yields.
     *
     * @return a builder to add to
     */
    public static EngineOptions.Builder builder() {
        EngineOptions.Builder patient =
                EngineOptions.builder().connectTimeout(Patience.BOUND).handshakeTimeout(Patience.BOUND);
        return Extent.isLong() ? patient : patient.spin(SPIN).yield(YIELD);
    }
}
