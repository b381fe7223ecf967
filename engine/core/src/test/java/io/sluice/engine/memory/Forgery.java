package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import java.util.Set;

/** A descriptor that mixes fields of the forger's choice with genuine ones. */
final class Forgery {
    private EngineId engineId;
    private long epoch;
    private long regionId;
    private long key;
    private final MemoryKind kind;
    private Set<Access> access;
    private long offset;
    private long length;

    private Forgery(RegionDescriptor genuine) {
        engineId = genuine.engineId();
        epoch = genuine.epoch();
        regionId = genuine.regionId();
        key = genuine.key();
        kind = genuine.kind();
        access = genuine.access();
        offset = genuine.offset();
        length = genuine.length();
    }

    static Forgery of(RegionDescriptor genuine) {
        return new Forgery(genuine);
    }

    Forgery engineId(EngineId other) {
        engineId = other;
        return this;
    }

    Forgery epoch(long other) {
        epoch = other;
        return this;
    }

    Forgery regionId(long other) {
        regionId = other;
        return this;
    }

    Forgery key(long other) {
        key = other;
        return this;
    }

    Forgery access(Set<Access> other) {
        access = other;
        return this;
    }

    Forgery offset(long other) {
        offset = other;
        return this;
    }

    Forgery length(long other) {
        length = other;
        return this;
    }

    RegionDescriptor make() {
        return new RegionDescriptor(engineId, epoch, regionId, key, kind, access, offset, length);
    }
}
