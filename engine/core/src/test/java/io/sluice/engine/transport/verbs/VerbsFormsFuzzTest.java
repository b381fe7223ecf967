package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.fuzz.ParserFuzz;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Messages of a peer's verbs endpoint over the control channel. */
class VerbsFormsFuzzTest {
    private static final int RAILS = 2;
    private static final RegionDescriptor DESCRIPTOR =
            new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.HOST, Set.of(Access.REMOTE_READ), 0, 4096);

    @Test
    void offers() {
        OfferedRail rail = new OfferedRail(new byte[Gid.BYTES], 1, 4096, true, 16, 1L << 40, 77);
        ParserFuzz.of("verbs-offer")
                .valid(
                        new VerbsOffer(32, List.of(rail), List.of(new OfferedLane(0, 17, 5)), false).toBytes(),
                        new VerbsOffer(
                                        32,
                                        List.of(rail, rail),
                                        List.of(new OfferedLane(0, 17, 5), new OfferedLane(1, 18, -1)),
                                        true)
                                .toBytes())
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    VerbsOffer read = VerbsOffer.read(input);
                    assertThat(read.rails().size()).isBetween(1, 16);
                    assertThat(read.lanes().size()).isBetween(1, 16);
                    for (OfferedLane lane : read.lanes()) {
                        assertThat(lane.rail()).isBetween(0, read.rails().size() - 1);
                    }
                });
    }

    @Test
    void keysOfRegions() {
        byte[] keys = ByteBuffer.allocate(2 + 8 + 4 * RAILS)
                .put((byte) RAILS)
                .put((byte) 1)
                .putLong(1L << 46)
                .putInt(5)
                .putInt(6)
                .array();
        ParserFuzz.of("verbs-remote-key")
                .valid(keys, VerbsRemoteKey.writeRefused("none"))
                .refusesBy(ProtocolException.class)
                .refusesBy(MemoryNotAccessibleException.class)
                .run(input -> {
                    VerbsRemoteKey read = VerbsRemoteKey.read(9, DESCRIPTOR, ByteBuffer.wrap(input), RAILS);
                    assertThat(read.address(DESCRIPTOR.length())).isGreaterThanOrEqualTo(read.address(0));
                });
    }

    @Test
    void fences() {
        byte[] fence = new VerbsControlMessage.Fence(3, 1, 1L << 33, 5, 6, -1).toBytes();
        ParserFuzz.of("verbs-fence")
                .valid(fence)
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    ByteBuffer bytes = ByteBuffer.wrap(input);
                    VerbsControlMessage.need(bytes, 1);
                    bytes.get();
                    assertThat(VerbsControlMessage.Fence.read(bytes).lane()).isBetween(0, 255);
                });
    }
}
