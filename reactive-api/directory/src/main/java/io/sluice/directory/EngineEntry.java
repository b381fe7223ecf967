package io.sluice.directory;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import java.util.Objects;

/**
 * A directory's entry for one engine, without its regions.
 *
 * @param name the engine's name in the directory
 * @param address the address to connect to; always includes the engine's id
 * @param epoch the epoch of that engine; see {@link io.sluice.engine.TransferEngine#epoch()}
 * @param revision changes with each publication and update; revisions of one name increase while its entry lives
 * @param regionCount the number of named regions that it has published
 */
public record EngineEntry(String name, EngineAddress address, long epoch, long revision, int regionCount) {
    /** Checks the ranges. */
    public EngineEntry {
        Names.check(name);
        Objects.requireNonNull(address.engineId(), "the address names no engine");
        if (regionCount < 0) {
            throw new IllegalArgumentException("regionCount is 0 or more, not " + regionCount);
        }
    }

    /**
     * Returns the engine's identity.
     *
     * @return the id in the address
     */
    public EngineId engineId() {
        return Objects.requireNonNull(address.engineId());
    }

    /**
     * Whether both entries describe the same engine and epoch.
     *
     * @param other another entry
     * @return false after a restart
     */
    public boolean isSameRun(EngineEntry other) {
        return epoch == other.epoch && engineId().equals(other.engineId());
    }
}
