package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import java.nio.ByteBuffer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A peer's offer for its lanes is checked before a lane is opened. */
class TcpOfferTest {
    private final GuardedTarget target = new GuardedTarget();

    @AfterEach
    void close() {
        target.close();
    }

    private static byte[] offer(int version, int lanes, int requests) {
        return ByteBuffer.allocate(6)
                .put((byte) version)
                .put((byte) lanes)
                .putInt(requests)
                .array();
    }

    static Stream<byte[]> offersOutOfRange() {
        return Stream.of(
                new byte[0],
                new byte[] {1},
                new byte[5],
                new byte[6],
                offer(0, 1, 4096),
                offer(-1, 1, 4096),
                offer(1, 0, 4096),
                offer(1, -1, 4096),
                offer(1, Byte.MIN_VALUE, 4096),
                offer(1, 1, 0),
                offer(1, 1, -1),
                offer(1, 1, Integer.MIN_VALUE),
                // checksums that were not agreed on; a window of nothing
                longer(1, Long.MAX_VALUE),
                longer(0, 0),
                longer(0, Long.MIN_VALUE));
    }

    private static byte[] longer(int flags, long window) {
        return ByteBuffer.allocate(15)
                .put(offer(1, 1, 4096))
                .put((byte) flags)
                .putLong(window)
                .array();
    }

    @ParameterizedTest
    @MethodSource("offersOutOfRange")
    void offerOutOfRangeEndsTheConnection(byte[] bytes) {
        try (RawPeer peer = new RawPeer(target.engine().address()).offer(bytes)) {
            peer.hello();
            peer.welcomed();
            peer.authenticate();
            peer.control().awaitEnd();
            assertThat(peer.isGoneFrom(target.engine())).isTrue();
        }
        target.assertHonestIsServed();
    }

    @Test
    void offerOfALaterVersionMayBeLonger() {
        byte[] later = ByteBuffer.allocate(100)
                .put(offer(2, 100, Integer.MAX_VALUE))
                .put((byte) 0b1111_1000)
                .putLong(Long.MAX_VALUE)
                .array();
        try (RawPeer peer = new RawPeer(target.engine().address()).offer(later)) {
            peer.connect();
            RegionDescriptor descriptor = target.slice();
            Claim claim = GuardedTarget.claim(peer.attach(descriptor), descriptor);
            RawLane lane = new RawLane(peer.lane(0));
            lane.send(RawLane.read(claim.at(0, 10)));
            assertThat(lane.receive().payload()).isEqualTo(GuardedTarget.old(0, 10));
        }
    }
}
