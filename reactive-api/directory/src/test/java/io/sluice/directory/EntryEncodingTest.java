package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.directory.store.StoredValue;
import io.sluice.engine.Access;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class EntryEncodingTest {
    private static final int HOSTILE_FORMS =
            "soak".equals(System.getProperty("sluice.test.profile")) ? 200_000 : 20_000;
    private static final EngineId ENGINE = new EngineId(0x0123456789abcdefL, -7);
    private static final long EPOCH = Long.MIN_VALUE + 3;
    private static final long REVISION = 1_790_000_000_000_000L;
    private static final int PROMISED_BYTES = 1_500_000;

    private static RegionDescriptor region(long id, long key, Set<Access> access, long offset, long length) {
        return new RegionDescriptor(ENGINE, EPOCH, id, key, MemoryKind.HOST, access, offset, length);
    }

    private static Advertisement advertisement(SortedMap<String, RegionDescriptor> regions) {
        return new Advertisement("decode/7", new EngineAddress("node-7.cluster.local", 7_000, ENGINE), EPOCH, regions);
    }

    private static SortedMap<String, RegionDescriptor> many(int count) {
        Random random = new Random(count);
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            regions.put(
                    "layer/%02d/block/%06d".formatted(i % 61, i),
                    region(i, random.nextLong(), EnumSet.allOf(Access.class), 0, 2L << 20));
        }
        return regions;
    }

    private static SortedMap<String, RegionDescriptor> decoded(EncodedEntry entry) {
        EntryHead head = EntryHead.fromBytes("decode/7", entry.head().toBytes());
        assertThat(head).isEqualTo(entry.head());
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        for (int i = 0; i < entry.chunks().size(); i++) {
            regions.putAll(RegionChunk.fromBytes(head, i, entry.chunks().get(i).value()));
        }
        return regions;
    }

    private static long bytes(EncodedEntry entry) {
        return entry.head().toBytes().length
                + entry.chunks().stream()
                        .mapToLong(chunk -> chunk.value().length + chunk.key().length())
                        .sum();
    }

    @Test
    void whatIsWrittenIsRead() {
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        regions.put("a", region(0, 0, Set.of(Access.REMOTE_READ), 0, 0));
        regions.put("ab", region(Long.MAX_VALUE, -1, Set.of(Access.REMOTE_WRITE), Long.MAX_VALUE - 5, 5));
        regions.put("ä", region(-1, 1, Set.of(), 1, 1L << 40));
        regions.put("äö", region(-2, 1, Set.of(), 1, 1L << 40));
        regions.put("x".repeat(255), region(5, 6, EnumSet.allOf(Access.class), 7, 8));
        regions.put("\uD83D\uDE00", region(6, 6, EnumSet.allOf(Access.class), 7, 8));
        regions.put("\uFFFD", region(7, 6, EnumSet.allOf(Access.class), 7, 8));
        assertThat(decoded(EncodedEntry.of(advertisement(regions), 99, REVISION)))
                .isEqualTo(regions);
    }

    @Test
    void fifteenThousandRegionsStayBelowWhatIsPromised() {
        SortedMap<String, RegionDescriptor> regions = many(15_000);
        EncodedEntry entry = EncodedEntry.of(advertisement(regions), 99, REVISION);
        assertThat(decoded(entry)).isEqualTo(regions);
        assertThat(bytes(entry)).isLessThan(PROMISED_BYTES);
        assertThat(entry.chunks())
                .hasSizeGreaterThan(5)
                .allSatisfy(chunk -> assertThat(chunk.value().length).isLessThanOrEqualTo(RegionChunk.MAX_BYTES));
    }

    /** Names of 64 random characters, ids and offsets of full length: nothing here can be compressed. */
    @Test
    void evenOfTheWorstOnes() {
        Random random = new Random(1);
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        while (regions.size() < 15_000) {
            StringBuilder name = new StringBuilder();
            random.ints(64, 33, 127).forEach(c -> name.append((char) c));
            regions.put(
                    name.toString(),
                    region(
                            random.nextLong() | Long.MIN_VALUE,
                            random.nextLong(),
                            Set.of(),
                            random.nextLong(1L << 48),
                            random.nextLong(1L << 40)));
        }
        EncodedEntry entry = EncodedEntry.of(advertisement(regions), 99, REVISION);
        assertThat(decoded(entry)).isEqualTo(regions);
        assertThat(bytes(entry)).isLessThan(PROMISED_BYTES + PROMISED_BYTES / 10);
    }

    @Test
    void theSameEntryHasTheSameBytes() {
        EncodedEntry one = EncodedEntry.of(advertisement(many(3_000)), 99, REVISION);
        EncodedEntry two = EncodedEntry.of(advertisement(new TreeMap<>(many(3_000))), 99, REVISION);
        assertThat(one.head().toBytes()).isEqualTo(two.head().toBytes());
        for (int i = 0; i < one.chunks().size(); i++) {
            assertThat(one.chunks().get(i).key()).isEqualTo(two.chunks().get(i).key());
            assertThat(one.chunks().get(i).value())
                    .isEqualTo(two.chunks().get(i).value());
        }
    }

    @Test
    void partsAreFoundByTheIndex() {
        SortedMap<String, RegionDescriptor> regions = many(15_000);
        EncodedEntry entry = EncodedEntry.of(advertisement(regions), 99, REVISION);
        ChunkIndex index = entry.head().chunks();
        for (String name : regions.keySet()) {
            int chunk = index.of(name);
            assertThat(index.withPrefix(name)).contains(chunk);
        }
        assertThat(index.of("a")).isEqualTo(-1);
        assertThat(index.withPrefix("a")).isEmpty();
        assertThat(index.withPrefix("")).hasSize(entry.chunks().size());
        assertThat(index.withPrefix("layer/07/")).hasSizeBetween(1, 2);
        assertThat(index.withPrefix("layer/")).hasSize(entry.chunks().size());
    }

    @Test
    void aPartOfAnotherRevisionOrPlaceIsRefused() {
        EncodedEntry old = EncodedEntry.of(advertisement(many(3_000)), 99, REVISION);
        EncodedEntry now = EncodedEntry.of(advertisement(many(3_000)), 99, REVISION + 1);
        StoredValue part = old.chunks().getFirst();
        assertThatThrownBy(() -> RegionChunk.fromBytes(now.head(), 0, part.value()))
                .isInstanceOf(DirectoryFormatException.class);
        assertThatThrownBy(() -> RegionChunk.fromBytes(old.head(), 1, part.value()))
                .isInstanceOf(DirectoryFormatException.class);
        assertThatThrownBy(() -> EntryHead.fromBytes("decode/8", old.head().toBytes()))
                .isInstanceOf(DirectoryFormatException.class);
    }

    /** Every byte may be anything, and the checksum right: the answer is an entry or the one type of error. */
    @Test
    void hostileBytesAreRefusedWithATypeOrAreAnEntry() {
        Random random = new Random(42);
        EncodedEntry entry = EncodedEntry.of(advertisement(many(40)), 99, REVISION);
        byte[] head = entry.head().toBytes();
        byte[] chunk = entry.chunks().getFirst().value();
        int refused = 0;
        for (int i = 0; i < HOSTILE_FORMS; i++) {
            boolean isHead = random.nextBoolean();
            byte[] hostile = mutated(random, isHead ? head : chunk);
            try {
                if (isHead) {
                    EntryHead.fromBytes("decode/7", hostile);
                } else {
                    RegionChunk.fromBytes(entry.head(), 0, hostile);
                }
            } catch (DirectoryFormatException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(HOSTILE_FORMS / 2);
    }

    private static byte[] mutated(Random random, byte[] form) {
        byte[] hostile = switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(form, random.nextInt(form.length + 40));
            case 1 -> {
                byte[] noise = new byte[random.nextInt(300)];
                random.nextBytes(noise);
                yield noise;
            }
            default -> form.clone();
        };
        for (int changes = random.nextInt(1, 6); changes > 0 && hostile.length > 0; changes--) {
            hostile[random.nextInt(hostile.length)] =
                    random.nextBoolean() ? (byte) random.nextInt() : (byte) (random.nextBoolean() ? 0xff : 0x7f);
        }
        if (hostile.length >= FormWriter.HEADER_BYTES) {
            ByteBuffer.wrap(hostile)
                    .putShort(FormWriter.MAGIC)
                    .put(FormWriter.VERSION)
                    .put(form[3])
                    .putInt(FormWriter.checksum(hostile, FormWriter.HEADER_BYTES));
        }
        return hostile;
    }

    @Test
    void aCountThatIsTooGreatAllocatesNothing() {
        FormWriter form =
                new FormWriter((byte) 2).putLong(REVISION).putVariable(0).putVariable(Advertisement.MAX_REGIONS);
        EntryHead head = EncodedEntry.of(advertisement(many(40)), 99, REVISION).head();
        assertThatThrownBy(() -> RegionChunk.fromBytes(head, 0, form.finish()))
                .isInstanceOf(DirectoryFormatException.class)
                .hasMessageContaining("count");
    }

    @Test
    void otherVersionsAndDamageAreTold() {
        EntryHead head = EncodedEntry.of(advertisement(many(1)), 99, REVISION).head();
        byte[] newer = head.toBytes();
        newer[2] = 2;
        assertThatThrownBy(() -> EntryHead.fromBytes("decode/7", newer)).hasMessageContaining("version 2");
        byte[] damaged = head.toBytes();
        damaged[20] ^= 1;
        assertThatThrownBy(() -> EntryHead.fromBytes("decode/7", damaged)).hasMessageContaining("checksum");
    }

    @Test
    void advertisementsAreChecked() {
        assertThatThrownBy(() -> advertisement(many(1)).withRegions(many(70_000)))
                .isInstanceOf(IllegalArgumentException.class);
        RegionDescriptor foreign = new RegionDescriptor(ENGINE, EPOCH + 1, 1, 1, MemoryKind.HOST, Set.of(), 0, 1);
        SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
        regions.put("foreign", foreign);
        assertThatThrownBy(() -> advertisement(regions)).isInstanceOf(IllegalArgumentException.class);
        regions.clear();
        regions.put("\uD83D", region(1, 1, Set.of(), 0, 1));
        assertThatThrownBy(() -> advertisement(regions)).isInstanceOf(IllegalArgumentException.class);
        for (String name : new String[] {"", "a*", "a b", "x".repeat(201), "ä"}) {
            assertThatThrownBy(() -> new Advertisement(name, new EngineAddress("h", 1, ENGINE), EPOCH, new TreeMap<>()))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new Advertisement("n", EngineAddress.of("h", 1), EPOCH, new TreeMap<>()))
                .isInstanceOf(NullPointerException.class);
    }

    /** The loser removes the parts that it has put, and never the winner's. */
    @Test
    void publicationsOfOneRevisionHaveNoKeyInCommon() {
        EncodedEntry one = EncodedEntry.of(advertisement(many(3_000)), 99, REVISION);
        EncodedEntry other = EncodedEntry.of(advertisement(many(3_000)), -1, REVISION);
        assertThat(one.chunks()).hasSizeGreaterThan(1);
        assertThat(one.chunks())
                .extracting(StoredValue::key)
                .doesNotContainAnyElementsOf(
                        other.chunks().stream().map(StoredValue::key).toList());
    }
}
