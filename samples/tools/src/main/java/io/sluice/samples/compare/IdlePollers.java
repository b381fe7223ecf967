package io.sluice.samples.compare;

import java.util.Map;

/** The strategy of idle pollers, on both sides. */
enum IdlePollers {
    /** As an engine does by default. */
    PARK(Map.of(), ""),
    /** They park at once, and are woken for each message. */
    SLEEP(Map.of("SLUICE_SPIN", "0ms", "SLUICE_YIELD", "0ms"), "pollers that sleep"),
    /** They poll on for longer than a measurement lasts; on one processor they yield it between two polls. */
    POLL_ON(Map.of("SLUICE_SPIN", "60m", "SLUICE_YIELD", "60m"), "pollers that never park");

    private final Map<String, String> environment;
    private final String description;

    IdlePollers(Map<String, String> environment, String description) {
        this.environment = environment;
        this.description = description;
    }

    /** For messages; empty for the default. */
    String description() {
        return description;
    }

    Map<String, String> environment() {
        return environment;
    }
}
