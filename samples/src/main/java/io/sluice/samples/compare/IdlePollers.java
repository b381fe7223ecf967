package io.sluice.samples.compare;

import java.util.Map;

/** What the engines' pollers do while there is nothing to do, on both sides. */
enum IdlePollers {
    /** As an engine does by default. */
    PARK(Map.of()),
    /** They poll on for longer than a measurement lasts; on one processor they yield it between two polls. */
    POLL_ON(Map.of("SLUICE_SPIN", "60m", "SLUICE_YIELD", "60m"));

    private final Map<String, String> environment;

    IdlePollers(Map<String, String> environment) {
        this.environment = environment;
    }

    /** The variables that engines take it from. */
    Map<String, String> environment() {
        return environment;
    }
}
