package io.sluice.testkit;

import io.sluice.engine.EngineOptions;

/** Options for engines of tests, whose connects outlast what a busy machine does to them. */
public final class PatientOptions {
    private PatientOptions() {}

    /**
     * Default ones, but for the time that a connect may take on either side.
     *
     * @return a builder to add to
     */
    public static EngineOptions.Builder builder() {
        return EngineOptions.builder().connectTimeout(Patience.BOUND).handshakeTimeout(Patience.BOUND);
    }
}
