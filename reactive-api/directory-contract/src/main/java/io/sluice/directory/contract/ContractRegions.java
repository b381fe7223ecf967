package io.sluice.directory.contract;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import java.util.EnumSet;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/** Descriptors like those of a KV cache: many, with long names and common prefixes. No engine has these regions. */
public final class ContractRegions {
    private ContractRegions() {}

    /**
     * Creates descriptors.
     *
     * @param engine the engine's id
     * @param epoch the engine's epoch
     * @param count the number of regions
     * @return descriptors by name, as in {@code layer/07/block/000123}
     */
    public static SortedMap<String, RegionDescriptor> many(EngineId engine, long epoch, int count) {
        Random random = new Random(epoch);
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            regions.put(name(i), region(engine, epoch, i + 1, random.nextLong()));
        }
        return regions;
    }

    static String name(int index) {
        return "layer/%02d/block/%06d".formatted(index % 32, index);
    }

    private static RegionDescriptor region(EngineId engine, long epoch, long id, long key) {
        return new RegionDescriptor(engine, epoch, id, key, MemoryKind.HOST, EnumSet.allOf(Access.class), 0, 2L << 20);
    }
}
