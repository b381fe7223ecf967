package io.sluice.samples.compare;

import java.nio.file.Path;
import java.util.Map;

/** How the two engines authenticate, and what of their connection is encrypted. */
enum Security {
    /** Nothing, as on loopback by default. */
    OFF(""),
    /** A shared token. */
    TOKEN("token"),
    /** Mutual TLS on the control channel. */
    TLS("TLS"),
    /** Mutual TLS on the control channel and the lanes. */
    TLS_DATA("TLS with its data");

    private final String description;

    Security(String description) {
        this.description = description;
    }

    /** For messages; empty for none. */
    String description() {
        return description;
    }

    /**
     * The variables of both engines.
     *
     * @param folder for files that they need
     */
    Map<String, String> environment(Path folder) throws MeasurementFailedException {
        return switch (this) {
            case OFF -> Map.of();
            case TOKEN -> Map.of("SLUICE_TOKEN", "no secret, but long enough for one");
            case TLS -> KeyStoreFile.in(folder).environment("false");
            case TLS_DATA -> KeyStoreFile.in(folder).environment("true");
        };
    }
}
