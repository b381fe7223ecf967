package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ExportTableTest {
    private final DescriptorKeys keys = new DescriptorKeys(EngineId.random(), 1);

    private static LocalRegion region(long id) {
        return new LocalRegion(
                null,
                id,
                RegionOptions.readWrite(),
                RegionMemory.host(MemorySegment.ofArray(new byte[64])),
                TransportRegistrations.none(),
                awaited -> {},
                () -> {});
    }

    private RegionExport export(LocalRegion region) {
        return new RegionExport(region, keys.issue(region.id(), MemoryKind.HOST, region.access(), 0, 64), 0);
    }

    private RegionExport export() {
        return export(region(1));
    }

    @Test
    void handleLeadsToWhatWasAdded() {
        ExportTable table = new ExportTable(10);
        RegionExport one = export();
        RegionExport other = export();
        long first = table.add(one);
        long second = table.add(other);
        assertThat(table.get(first)).isSameAs(one);
        assertThat(table.get(second)).isSameAs(other);
        assertThat(first).isNotNegative();
        assertThat(second).isNotNegative().isNotEqualTo(first);
    }

    @Test
    void handlesNeverGivenLeadNowhere() {
        ExportTable table = new ExportTable(10);
        long handle = table.add(export());
        for (long wrong : new long[] {
            -1,
            handle + 1,
            handle - 1,
            handle + (1L << 32),
            handle | (1L << 63),
            16,
            17,
            Integer.MAX_VALUE,
            1L << 31,
            0xffff_ffffL,
            Long.MAX_VALUE,
            Long.MIN_VALUE
        }) {
            assertThat(table.get(wrong)).as("handle %x", wrong).isNull();
            table.remove(wrong);
        }
        assertThat(table.get(handle)).isNotNull();
    }

    @Test
    void fullTableGivesNoHandleUntilOneIsFree() {
        ExportTable table = new ExportTable(40);
        List<Long> handles = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            handles.add(table.add(export()));
        }
        assertThat(handles).doesNotHaveDuplicates().allMatch(handle -> handle >= 0);
        assertThat(table.add(export())).isEqualTo(-1);
        table.remove(handles.get(7));
        assertThat(table.add(export())).isNotNegative();
        assertThat(table.add(export())).isEqualTo(-1);
    }

    @Test
    void placeIsUsedAgainButItsHandleIsNot() {
        ExportTable table = new ExportTable(1);
        Set<Long> used = new HashSet<>();
        long last = -1;
        for (int i = 0; i < 10_000; i++) {
            RegionExport export = export();
            long handle = table.add(export);
            assertThat(used.add(handle)).as("handle %x is new", handle).isTrue();
            assertThat(table.get(handle)).isSameAs(export);
            assertThat(table.get(last)).isNull();
            table.remove(handle);
            table.remove(handle);
            assertThat(table.get(handle)).isNull();
            last = handle;
        }
    }

    @Test
    void closingRegionTakesAllOfItsExportsAndNoOthers() {
        ExportTable table = new ExportTable(100);
        LocalRegion closing = region(1);
        LocalRegion staying = region(2);
        List<Long> gone = new ArrayList<>();
        List<Long> kept = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            gone.add(table.add(export(closing)));
            kept.add(table.add(export(staying)));
        }
        table.removeAll(closing, ended -> {});
        table.removeAll(closing, ended -> {});
        assertThat(gone).allMatch(handle -> table.get(handle) == null);
        assertThat(kept).allMatch(handle -> table.get(handle) != null);
        for (int i = 0; i < 40 + 20; i++) {
            assertThat(table.add(export(staying))).isNotNegative();
        }
        assertThat(table.add(export())).isEqualTo(-1);
    }

    @Test
    void randomOperationsAgreeWithAMap() {
        int limit = 50;
        ExportTable table = new ExportTable(limit);
        Random random = new Random(5);
        List<LocalRegion> regions = List.of(region(1), region(2), region(3));
        Map<Long, RegionExport> expected = new HashMap<>();
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> {
                    RegionExport export = export(regions.get(random.nextInt(3)));
                    long handle = table.add(export);
                    if (expected.size() == limit) {
                        assertThat(handle).isEqualTo(-1);
                    } else {
                        assertThat(expected.put(handle, export)).isNull();
                        all.add(handle);
                    }
                }
                case 4, 5, 6, 7 -> {
                    if (!all.isEmpty()) {
                        long handle = all.get(random.nextInt(all.size()));
                        table.remove(handle);
                        expected.remove(handle);
                    }
                }
                case 8 -> {
                    LocalRegion closing = regions.get(random.nextInt(3));
                    if (random.nextInt(20) == 0) {
                        table.removeAll(closing, ended -> {});
                        expected.values().removeIf(export -> export.region() == closing);
                    }
                }
                default -> {
                    if (!all.isEmpty()) {
                        long handle = all.get(random.nextInt(all.size()));
                        assertThat(table.get(handle)).isSameAs(expected.get(handle));
                    }
                }
            }
        }
        all.forEach(handle -> assertThat(table.get(handle)).isSameAs(expected.get(handle)));
    }
}
