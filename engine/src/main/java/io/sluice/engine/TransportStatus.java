package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Whether a transport can be used on this machine.
 *
 * @param name as in {@link EngineOptions#transports()}
 * @param unavailable {@code null} if it is available, else why not and what to do
 * @param cause what was thrown when it was tried, or {@code null}
 */
public record TransportStatus(
        String name, @Nullable String unavailable, @Nullable Throwable cause) {
    /**
     * Whether it can be used.
     *
     * @return true if nothing is in the way
     */
    public boolean isAvailable() {
        return unavailable == null;
    }
}
