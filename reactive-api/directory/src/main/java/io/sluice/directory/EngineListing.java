package io.sluice.directory;

import io.sluice.engine.RegionDescriptor;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An engine and its requested regions, all of one revision of its entry.
 *
 * @param entry the engine's entry
 * @param regions descriptors by region name
 */
public record EngineListing(EngineEntry entry, SortedMap<String, RegionDescriptor> regions) {
    /** Copies the regions. */
    public EngineListing {
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }
}
