package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.fuzz.ParserFuzz;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Entries come from a store to which others write, too. */
class EntryFuzzTest {
    private static final EngineId ENGINE = new EngineId(0x0123456789abcdefL, -7);
    private static final String NAME = "decode/7";

    private static EncodedEntry entry(int count) {
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            regions.put(
                    "layer/%02d".formatted(i),
                    new RegionDescriptor(
                            ENGINE, 5, i, -i, MemoryKind.HOST, EnumSet.allOf(Access.class), 1L << i, 2L << 20));
        }
        Advertisement advertisement =
                new Advertisement(NAME, new EngineAddress("node-7.cluster.local", 7_000, ENGINE), 5, regions);
        return EncodedEntry.of(advertisement, 99, 7);
    }

    /** Two of three get a checksum that is right, else the checksum would be all that is tried. */
    private static void repair(byte[] input) {
        if (input.length >= FormWriter.HEADER_BYTES && input.length % 3 != 0) {
            ByteBuffer.wrap(input).putInt(4, FormWriter.checksum(input, FormWriter.HEADER_BYTES));
        }
    }

    @Test
    void heads() {
        ParserFuzz.of("directory-head")
                .valid(entry(0).head().toBytes(), entry(20).head().toBytes())
                .refusesBy(DirectoryFormatException.class)
                .run(input -> {
                    repair(input);
                    EntryHead read = EntryHead.fromBytes(NAME, input);
                    assertThat(read.entry().regionCount()).isNotNegative();
                    assertThat(EntryHead.fromBytes(NAME, read.toBytes())).isEqualTo(read);
                });
    }

    @Test
    void chunks() {
        EncodedEntry whole = entry(20);
        ParserFuzz.of("directory-chunk")
                .valid(whole.chunks().getFirst().value())
                .refusesBy(DirectoryFormatException.class)
                .run(input -> {
                    repair(input);
                    assertThat(RegionChunk.fromBytes(whole.head(), 0, input)).hasSize(20);
                });
    }
}
