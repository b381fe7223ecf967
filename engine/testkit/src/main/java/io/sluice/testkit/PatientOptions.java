package io.sluice.testkit;

import io.sluice.engine.EngineOptions;
import java.time.Duration;
import java.util.Map;

/**
 * Options for engines of tests, whose connects outlast what a busy machine does to them, and whose pollers leave the
 * processor to others soon: they are idle most of the time.
 */
public final class PatientOptions {
    private static final Duration SPIN = Duration.ofNanos(2_000);
    private static final Duration YIELD = Duration.ofNanos(8_000);

    private PatientOptions() {}

    /**
     * Default ones, but for the time that a connect may take on either side, and, except in the long runs, for how long an
     * idle poller spins and yields.
     *
     * @return a builder to add to
     */
    public static EngineOptions.Builder builder() {
        return patient(EngineOptions.builder());
    }

    /**
     * Makes options like those of {@link #builder()}.
     *
     * @param options to change
     * @return the same
     */
    public static EngineOptions.Builder patient(EngineOptions.Builder options) {
        options.connectTimeout(Patience.BOUND).handshakeTimeout(Patience.BOUND);
        return Extent.isLong() ? options : options.spin(SPIN).yield(YIELD);
    }

    /**
     * The environment of a program whose engines are to be as idle as those of {@link #builder()}.
     *
     * @return variables and their values
     */
    public static Map<String, String> environment() {
        return Extent.isLong()
                ? Map.of()
                : Map.of("SLUICE_SPIN", SPIN.toNanos() + "ns", "SLUICE_YIELD", YIELD.toNanos() + "ns");
    }
}
