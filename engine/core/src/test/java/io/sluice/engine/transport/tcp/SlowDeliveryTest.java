package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.Filling;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.bootstrap.MessageSocket;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Everything that a peer says may come a byte at a time, in the bootstrap, on the control channel and on a lane. */
class SlowDeliveryTest {
    private static final Duration PAUSE = Duration.ofNanos(100_000);
    private static final MessageSocket.Delivery BYTE_BY_BYTE = (bytes, to) -> {
        for (byte each : bytes) {
            to.write(each);
            to.flush();
            Patience.pause(PAUSE);
        }
    };

    @Test
    void everythingByteByByte() {
        try (GuardedTarget target = new GuardedTarget();
                RawPeer peer = new RawPeer(target.engine().address(), BYTE_BY_BYTE)) {
            peer.connect();
            RegionDescriptor descriptor = target.slice();
            Claim claim = GuardedTarget.claim(peer.attach(descriptor), descriptor);
            RawLane lane = new RawLane(peer.lane(0), BYTE_BY_BYTE);
            byte[] news = Filling.bytes(9, 0, 100);
            lane.send(
                    RawLane.write(claim.at(10, 100), news),
                    RawLane.write(claim.at(0, 0), new byte[0]),
                    RawLane.write(claim.key(0).at(0, 5), new byte[5]),
                    RawLane.read(claim.at(0, 200)),
                    RawLane.read(claim.at(-1, 200)));
            Frame frame = lane.receive();
            long counted = 0;
            while (frame.operation() == RawLane.ACK) {
                counted = frame.count();
                frame = lane.receive();
            }
            assertThat(counted).isEqualTo(2);
            assertThat(frame.operation()).isEqualTo(RawLane.NACK);
            assertThat(frame.status()).isEqualTo(CompletionStatus.BAD_KEY.code());
            assertThat(frame.count()).isEqualTo(3);
            assertThat(lane.receive().payload()).isEqualTo(target.slice(0, 200));
            assertThat(lane.receive().operation()).isEqualTo(RawLane.READ_FAILED);
            assertThat(target.slice(10, 100)).isEqualTo(news);
            assertThat(target.slice(0, 10)).isEqualTo(GuardedTarget.old(0, 10));
            assertThat(target.slice(110, 100)).isEqualTo(GuardedTarget.old(110, 100));
            peer.detach(claim.handle());
            assertNotified(peer, peer.in(target.engine()));
            assertAnswered(target, peer, lane);
            target.assertMarginsUnchanged();
            target.assertHonestIsServed();
        }
    }

    private static void assertNotified(RawPeer peer, Connection connection) {
        CompletableFuture<byte[]> notified = new CompletableFuture<>();
        connection
                .subscribe(new NotificationListener() {
                    @Override
                    public void notification(byte[] payload) {
                        notified.complete(payload);
                    }

                    @Override
                    public void ended(@Nullable SluiceException error) {
                        notified.completeExceptionally(new AssertionError("ended before"));
                    }
                })
                .request(1);
        peer.notifyEngine(new byte[] {4, 2});
        assertThat(Patience.await(notified)).containsExactly(4, 2);
    }

    /** The engine's own read, whose answer comes byte by byte. */
    private static void assertAnswered(GuardedTarget target, RawPeer peer, RawLane lane) {
        int bytes = 300;
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, bytes);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.readData(bytes), Filling.bytes(3, 0, bytes));
        Patience.await(owed.end());
        Filling.assertFilled(owed.local().segment(), 3, 0, bytes);
    }
}
