package io.sluice.directory;

import io.sluice.engine.RegionDescriptor;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An engine and those of its regions that were asked for, all of one revision of its entry.
 *
 * @param entry the engine
 * @param regions descriptors by the regions' names
 */
public record EngineListing(EngineEntry entry, SortedMap<String, RegionDescriptor> regions) {
    /** Copies the regions. */
    public EngineListing {
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }
}
