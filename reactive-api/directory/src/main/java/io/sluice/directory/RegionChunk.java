package io.sluice.directory;

import io.sluice.engine.Access;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A part of an entry's regions. Fields: revision (8 bytes), index, number of regions, and for each region: the length
 * of the prefix that its name shares with the one before, the rest of the name, kind (1), access (1), region id, key
 * (8), offset, length. Engine, epoch and order are those of the {@link EntryHead}.
 */
final class RegionChunk {
    /** The size from which a chunk is full. */
    static final int FULL_BYTES = 32 << 10;

    static final int MAX_BYTES = 64 << 10;

    private static final byte KIND = 2;
    private static final int LEAST_REGION_BYTES = 16;

    private RegionChunk() {}

    /** Writes regions, sorted by name, into one chunk until it is full or all are written. */
    static final class Writer {
        private final long revision;
        private final int index;
        private final FormWriter regions = new FormWriter(KIND);
        private byte[] last = {};
        private int count;

        Writer(long revision, int index) {
            this.revision = revision;
            this.index = index;
        }

        boolean isFull() {
            return regions.size() >= FULL_BYTES;
        }

        int count() {
            return count;
        }

        void add(String name, RegionDescriptor region) {
            byte[] bytes = RegionNames.check(name);
            int shared = Math.max(0, Arrays.mismatch(last, bytes));
            regions.putVariable(shared)
                    .putBytes(bytes, shared)
                    .putByte(region.kind().code())
                    .putByte(Access.toBits(region.access()))
                    .putVariable(region.regionId())
                    .putLong(region.key())
                    .putVariable(region.offset())
                    .putVariable(region.length());
            last = bytes;
            count++;
        }

        byte[] finish() {
            return new FormWriter(KIND)
                    .putLong(revision)
                    .putVariable(index)
                    .putVariable(count)
                    .putRest(regions)
                    .finish();
        }
    }

    /** Parses a chunk that must belong to an entry. */
    static SortedMap<String, RegionDescriptor> fromBytes(EntryHead head, int index, byte[] bytes) {
        EngineEntry entry = head.entry();
        FormReader form = new FormReader(bytes, KIND, MAX_BYTES, "a part of the entry '" + entry.name() + "'");
        if (form.getLong() != entry.revision() || form.getVariable() != index) {
            throw form.malformed("it belongs to another revision or place");
        }
        int count = form.getCount(Advertisement.MAX_REGIONS, LEAST_REGION_BYTES);
        if (count != head.chunks().counts().get(index)) {
            throw form.malformed("it has " + count + " regions, not as many as the index says");
        }
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        byte[] name = new byte[FormReader.MAX_REGION_NAME_BYTES];
        int length = 0;
        String last = null;
        for (int i = 0; i < count; i++) {
            long alike = form.getVariable();
            if (alike < 0 || alike > length) {
                throw form.malformed("a region shares more of its name than the one before has");
            }
            int shared = (int) alike;
            byte[] rest = form.getBytes(name.length - shared);
            System.arraycopy(rest, 0, name, shared, rest.length);
            length = shared + rest.length;
            last = following(form, last, RegionNames.decode(form, name, length));
            if (i == 0 && !last.equals(head.chunks().firstNames().get(index))) {
                throw form.malformed("its first region is not the one in the index");
            }
            regions.put(last, region(entry, form));
        }
        form.end();
        return regions;
    }

    private static String following(FormReader form, @Nullable String last, String name) {
        if (last != null && last.compareTo(name) >= 0) {
            throw form.malformed("its regions are out of order");
        }
        return name;
    }

    private static RegionDescriptor region(EngineEntry entry, FormReader form) {
        try {
            MemoryKind kind = MemoryKind.fromCode(Byte.toUnsignedInt(form.getByte()));
            var access = Access.fromBits(Byte.toUnsignedInt(form.getByte()));
            long id = form.getVariable();
            long key = form.getLong();
            long offset = form.getVariable();
            long length = form.getVariable();
            return new RegionDescriptor(entry.engineId(), entry.epoch(), id, key, kind, access, offset, length);
        } catch (InvalidDescriptorException e) {
            throw form.malformed("a region's descriptor is invalid", e);
        }
    }
}
