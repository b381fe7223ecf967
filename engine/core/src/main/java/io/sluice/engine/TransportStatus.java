package io.sluice.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a transport can be used on this machine.
 *
 * @param name as in {@link EngineOptions#transports()}
 * @param unavailable {@code null} if it is available, else why not and what to do
 * @param cause what was thrown when it was tried, or {@code null}
 * @param devices what it finds to use, one line for each; empty if it needs no device
 */
public record TransportStatus(
        String name, @Nullable String unavailable, @Nullable Throwable cause, List<String> devices) {
    /** Copies the list. */
    public TransportStatus {
        devices = List.copyOf(devices);
    }

    /**
     * Of a transport that needs no device, or has none.
     *
     * @param name as in {@link EngineOptions#transports()}
     * @param unavailable {@code null} if it is available, else why not and what to do
     * @param cause what was thrown when it was tried, or {@code null}
     */
    public TransportStatus(String name, @Nullable String unavailable, @Nullable Throwable cause) {
        this(name, unavailable, cause, List.of());
    }

    /**
     * Whether it can be used.
     *
     * @return true if nothing is in the way
     */
    public boolean isAvailable() {
        return unavailable == null;
    }
}
