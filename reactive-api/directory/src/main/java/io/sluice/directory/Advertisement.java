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
 * The entry that an engine publishes: its address and its named regions. Immutable.
 *
 * @param name the engine's name in the directory: 1 to 200 ASCII letters, digits and {@code . _ - ~ : @ /}. Names with
 *     a common prefix can be watched together, so start them with a role, as in {@code decode/7}
 * @param address the address that peers connect to; must include the engine's id
 * @param epoch the engine's epoch
 * @param regions descriptors of this engine and epoch by name, at most {@value #MAX_REGIONS}; a name is 1 to 255 bytes
 *     of UTF-8
 */
public record Advertisement(
        String name, EngineAddress address, long epoch, SortedMap<String, RegionDescriptor> regions) {
    /** The most regions of an entry. */
    public static final int MAX_REGIONS = 65_536;

    /** Checks names, and that each descriptor belongs to this engine and epoch. */
    public Advertisement {
        Names.check(name);
        Objects.requireNonNull(address.engineId(), "the address names no engine");
        if (regions.size() > MAX_REGIONS) {
            throw new IllegalArgumentException(
                    "an entry has at most " + MAX_REGIONS + " regions, not " + regions.size());
        }
        // in natural order, not in the order of the argument
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
     * Creates the advertisement of an engine with all its open regions that have a name and grant peers a right.
     *
     * @param name the engine's name in the directory
     * @param engine a listening engine
     * @return the advertisement
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
     * Returns a copy with other regions.
     *
     * @param replacement the regions
     * @return a new advertisement
     */
    public Advertisement withRegions(Map<String, RegionDescriptor> replacement) {
        return new Advertisement(name, address, epoch, new TreeMap<>(replacement));
    }

    /**
     * Returns a copy with another address, if peers reach the engine by another name or port than it knows.
     *
     * @param reachable an address of the same engine
     * @return a new advertisement
     */
    public Advertisement withAddress(EngineAddress reachable) {
        return new Advertisement(name, reachable, epoch, regions);
    }
}
