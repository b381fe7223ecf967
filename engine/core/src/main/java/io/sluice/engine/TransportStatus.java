package io.sluice.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a transport can be used on this machine.
 *
 * @param name as in {@link EngineOptions#transports()}
 * @param unavailable {@code null} if the transport is available, else why not and what to do
 * @param cause the exception that the attempt threw, or {@code null}
 * @param devices the devices that it can use, one line each; empty if it needs none
 */
public record TransportStatus(
        String name, @Nullable String unavailable, @Nullable Throwable cause, List<String> devices) {
    /** Copies the list. */
    public TransportStatus {
        devices = List.copyOf(devices);
    }

    /**
     * Creates the status of a transport that needs no device or has none.
     *
     * @param name as in {@link EngineOptions#transports()}
     * @param unavailable {@code null} if the transport is available, else why not and what to do
     * @param cause the exception that the attempt threw, or {@code null}
     */
    public TransportStatus(String name, @Nullable String unavailable, @Nullable Throwable cause) {
        this(name, unavailable, cause, List.of());
    }

    /**
     * Returns whether the transport can be used.
     *
     * @return true if it is available
     */
    public boolean isAvailable() {
        return unavailable == null;
    }
}
