package io.sluice.directory.contract;

import java.time.Duration;

/** How long the contract waits for what must happen. */
final class Bounds {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Bounds() {}
}
