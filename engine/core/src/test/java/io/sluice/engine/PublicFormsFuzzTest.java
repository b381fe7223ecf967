package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.fuzz.ParserFuzz;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Addresses and descriptors come out of directories, files and messages of untrusted origin. */
class PublicFormsFuzzTest {
    private static final EngineId ID = new EngineId(0x0123456789abcdefL, -7);

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void addresses() {
        ParserFuzz.of("engine-address")
                .valid(
                        new EngineAddress("node-7.cluster.local", 7000, ID).toBytes(),
                        new EngineAddress("::1", 1, null).toBytes(),
                        new EngineAddress("x".repeat(255), 65_535, ID).toBytes())
                .refusesBy(IllegalArgumentException.class)
                .run(input -> {
                    EngineAddress read = EngineAddress.fromBytes(input);
                    assertThat(EngineAddress.fromBytes(read.toBytes())).isEqualTo(read);
                    assertThat(EngineAddress.parse(read.toString())).isEqualTo(read);
                });
    }

    @Test
    void addressesAsText() {
        ParserFuzz.of("engine-address-text")
                .valid(text("[::1]:7000#" + ID), text("node-7:65535"), text("10.0.0.1:1#" + ID))
                .refusesBy(IllegalArgumentException.class)
                .run(input -> {
                    EngineAddress read = EngineAddress.parse(new String(input, StandardCharsets.UTF_8));
                    assertThat(EngineAddress.parse(read.toString())).isEqualTo(read);
                    assertThat(EngineAddress.fromBytes(read.toBytes())).isEqualTo(read);
                });
    }

    /** Every second one gets a checksum that is right, else the checksum would be all that is tried. */
    @Test
    void descriptors() {
        ParserFuzz.of("region-descriptor")
                .valid(
                        descriptor(EnumSet.allOf(Access.class), 0, 1L << 40).toBytes(),
                        descriptor(Set.of(), Long.MAX_VALUE - 5, 5).toBytes())
                .refusesBy(InvalidDescriptorException.class)
                .run(input -> {
                    if (input.length == RegionDescriptor.BYTES && (input[RegionDescriptor.BYTES - 9] & 1) == 0) {
                        CRC32C crc = new CRC32C();
                        crc.update(input, 0, 4);
                        crc.update(input, 8, RegionDescriptor.BYTES - 8);
                        ByteBuffer.wrap(input).putInt(4, (int) crc.getValue());
                    }
                    RegionDescriptor read = RegionDescriptor.fromBytes(input);
                    assertThat(read.offset()).isNotNegative();
                    assertThat(read.length()).isNotNegative();
                    assertThat(read.offset() + read.length()).isNotNegative();
                    assertThat(read.toBytes()).isEqualTo(input);
                });
    }

    private static RegionDescriptor descriptor(Set<Access> access, long offset, long length) {
        return new RegionDescriptor(ID, 3, 4, 5, MemoryKind.HOST, access, offset, length);
    }
}
