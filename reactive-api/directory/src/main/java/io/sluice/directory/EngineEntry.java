package io.sluice.directory;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import java.util.Objects;

/**
 * What a directory says of one engine, without its regions.
 *
 * @param name the name that the engine has in the directory
 * @param address where it can be connected to; it always names the engine
 * @param epoch the run of that engine; see {@link io.sluice.engine.TransferEngine#epoch()}
 * @param revision another one each time the entry is published or updated; revisions of one name grow while its entry lives
 * @param regionCount how many named regions it has published
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
     * The engine's identity.
     *
     * @return the one in the address
     */
    public EngineId engineId() {
        return Objects.requireNonNull(address.engineId());
    }

    /**
     * Whether both describe the same run of the same engine.
     *
     * @param other another entry
     * @return false after a restart
     */
    public boolean isSameRun(EngineEntry other) {
        return epoch == other.epoch && engineId().equals(other.engineId());
    }
}
