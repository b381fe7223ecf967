package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ProtocolException;
import io.sluice.fuzz.ParserFuzz;
import io.sluice.jni.Sockets;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Input of another process on the host: its offer, the keys of its regions, and the content of the ring. */
class ShmFormsFuzzTest {
    private static final long SLICE_BYTES = 4096;
    private static final int MOST_BYTES = 20_000;

    private ControlSegment made;

    @BeforeEach
    void map() {
        ControlSegment.Made both = ControlSegment.make();
        made = both.segment();
        Sockets.close(both.descriptor());
    }

    @AfterEach
    void unmap() {
        made.close();
    }

    private static byte[] offer(String meetingPoint) {
        return new ShmOffer(
                        "boot net:[1] -",
                        meetingPoint,
                        new byte[ShmOffer.SECRET_BYTES],
                        1L << 40,
                        new byte[ShmOffer.PROBE_BYTES])
                .toBytes();
    }

    @Test
    void offers() {
        ParserFuzz.of("shm-offer")
                .valid(offer(""), offer("sluice-" + "0123456789abcdef".repeat(2)))
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    ShmOffer read = ShmOffer.read(input);
                    assertThat(read.secret()).hasSize(ShmOffer.SECRET_BYTES);
                    assertThat(read.meetingPoint()).matches("|sluice-[0-9a-f]{32}");
                    assertThat(read.probe()).hasSize(ShmOffer.PROBE_BYTES);
                });
    }

    @Test
    void hosts() {
        ParserFuzz.of("shm-host")
                .valid("boot net:[1] 9:9".getBytes(StandardCharsets.UTF_8), "- - -".getBytes(StandardCharsets.UTF_8))
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    Host read = Host.read(new String(input, StandardCharsets.UTF_8));
                    if (read == null) {
                        throw new ProtocolException("no host");
                    }
                    assertThat(Host.read(read.text())).isEqualTo(read);
                });
    }

    private static byte[] keys(RegionKeys.Way way, long fileBytes, long start) {
        return new RegionKeys(way, true, true, 5, fileBytes, false, start).toBytes();
    }

    /** A slice that is to be mapped lies within its file, and nothing of it is negative. */
    @Test
    void keysOfRegions() {
        ParserFuzz.of("shm-region-keys")
                .valid(
                        keys(RegionKeys.Way.MAPPED, 1 << 20, 4096),
                        keys(RegionKeys.Way.MAPPED, Long.MAX_VALUE, Long.MAX_VALUE - SLICE_BYTES),
                        keys(RegionKeys.Way.CROSS_MEMORY, 0, 1L << 46))
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    RegionKeys read = RegionKeys.read(ByteBuffer.wrap(input), SLICE_BYTES);
                    assertThat(read.fileBytes()).isNotNegative();
                    assertThat(read.start()).isNotNegative();
                    if (read.way() == RegionKeys.Way.MAPPED) {
                        assertThat(read.fileBytes()).isGreaterThanOrEqualTo(SLICE_BYTES);
                        assertThat(read.start()).isLessThanOrEqualTo(read.fileBytes() - SLICE_BYTES);
                    }
                });
    }

    /** The ring's content, taken in pieces: the producer's position comes from outside as well. */
    @Test
    void ring() {
        ControlSegment.Direction direction = made.direction(true);
        MemorySegment ring = direction.ring();
        ParserFuzz.of("shm-ring")
                .valid(
                        new byte[] {3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 2, 0, 0, 0, 9, 9},
                        ByteBuffer.allocate(3000)
                                .put(new byte[] {-88, 11, 0, 0})
                                .array())
                .refusesBy(ProtocolException.class)
                // a message's length is believed up to the longest that is honest
                .allocating(MOST_BYTES)
                .run(input -> {
                    direction.produced(0);
                    direction.consumed(0);
                    IncomingMessages incoming = new IncomingMessages(
                            direction,
                            MOST_BYTES,
                            message -> assertThat(message.length).isLessThanOrEqualTo(MOST_BYTES));
                    MemorySegment.copy(input, 0, ring, ValueLayout.JAVA_BYTE, 0, input.length);
                    direction.produced(input.length / 2);
                    incoming.take();
                    direction.produced(input.length % 17 == 16 ? -input.length : input.length);
                    incoming.take();
                    assertThat(direction.consumed()).isEqualTo(input.length);
                });
    }
}
