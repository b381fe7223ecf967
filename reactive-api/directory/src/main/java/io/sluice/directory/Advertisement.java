package io.sluice.directory;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.TransferEngine;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What an engine wants others to find: its address and its named regions. Immutable.
 *
 * @param name of the engine in the directory: 1 to 200 ASCII letters, digits and {@code . _ - ~ : @ /}. Names that begin
 *     alike can be watched together, so begin them with a role, as in {@code decode/7}
 * @param address where peers can connect to; it must name the engine
 * @param epoch the engine's run
 * @param regions descriptors of this run of this engine by name, at most {@value #MAX_REGIONS}; a name is 1 to 255 bytes of
 *     UTF-8
 */
public record Advertisement(
        String name, EngineAddress address, long epoch, SortedMap<String, RegionDescriptor> regions) {
    /** The most regions that one entry may have. */
    public static final int MAX_REGIONS = 65_536;

    /** Checks names, and that each descriptor is of this run. */
    public Advertisement {
        Names.check(name);
        Objects.requireNonNull(address.engineId(), "the address names no engine");
        if (regions.size() > MAX_REGIONS) {
            throw new IllegalArgumentException(
                    "an entry has at most " + MAX_REGIONS + " regions, not " + regions.size());
        }
        // In natural order, not in that of the map.
        SortedMap<String, RegionDescriptor> copy = new TreeMap<>();
        regions.forEach((region, descriptor) -> {
            RegionNames.check(region);
            if (descriptor.epoch() != epoch || !descriptor.engineId().equals(address.engineId())) {
                throw new IllegalArgumentException("region '" + region + "' is not of this run of this engine");
            }
            copy.put(region, descriptor);
        });
        regions = Collections.unmodifiableSortedMap(copy);
    }

    /**
     * An engine with all its open regions that have a name and a right for peers.
     *
     * @param name of the engine in the directory
     * @param engine listens
     * @return what to publish
     * @throws IllegalStateException if the engine does not listen
     */
    public static Advertisement of(String name, TransferEngine engine) {
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        for (MemoryRegion region : engine.regions()) {
            String regionName = region.name();
            if (regionName != null && region.isOpen() && !region.access().isEmpty()) {
                regions.put(regionName, region.descriptor());
            }
        }
        return new Advertisement(name, engine.address(), engine.epoch(), regions);
    }

    /**
     * The same engine with other regions.
     *
     * @param replacement instead of those that there are
     * @return a new advertisement
     */
    public Advertisement withRegions(Map<String, RegionDescriptor> replacement) {
        return new Advertisement(name, address, epoch, new TreeMap<>(replacement));
    }

    /**
     * The same engine under another address, for one that peers reach by another name or port than it knows itself.
     *
     * @param reachable names the same engine
     * @return a new advertisement
     */
    public Advertisement withAddress(EngineAddress reachable) {
        return new Advertisement(name, reachable, epoch, regions);
    }
}
