package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.SecretSource;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages of the peer and of strangers over the Unix socket. */
class PeerLinkTest {
    private final SecretSource secrets = new SecretSource();
    private final Side acceptor = new Side(false);
    private final Side initiator = new Side(true);

    @AfterEach
    void close() {
        acceptor.link.close();
        initiator.link.close();
        acceptor.descriptors.forEach(Sockets::close);
    }

    private final class Side implements PeerLink.Owner {
        private final TestContext context;
        private final PeerLink link;
        private final List<Integer> descriptors = new ArrayList<>();
        private final List<SluiceException> failures = new ArrayList<>();
        private int meetings;
        private int messages;
        private int rooms;
        private int partings;

        Side(boolean initiator) {
            context = new TestContext(initiator);
            link = new PeerLink(context, secrets, this);
        }

        @Override
        public void met() {
            meetings++;
        }

        @Override
        public void message(byte type, ByteBuffer message, int descriptor) {
            messages++;
            if (descriptor >= 0) {
                descriptors.add(descriptor);
            }
        }

        @Override
        public void roomAgain() {
            rooms++;
        }

        @Override
        public void failed(SluiceException error) {
            failures.add(error);
        }

        @Override
        public boolean hungUp() {
            return false;
        }

        @Override
        public void peerGone() {
            partings++;
        }
    }

    private CudaOffer begin() {
        CudaOffer waiting = acceptor.link.offer();
        acceptor.link.begin(initiator.link.offer());
        return waiting;
    }

    private void meet(CudaOffer waiting) {
        initiator.link.begin(waiting);
        Patience.until("they have met", () -> {
            acceptor.context.cycle();
            initiator.context.cycle();
            return acceptor.meetings == 1 && initiator.meetings == 1;
        });
    }

    private static int connect(CudaOffer waiting) {
        int connected = LocalSockets.connect(("\0" + waiting.meetingPoint()).getBytes(StandardCharsets.US_ASCII));
        assertThat(connected).isNotNegative();
        return connected;
    }

    private static void send(int socket, byte[] bytes, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            MemorySegment passed = arena.allocate(4L * (descriptors.length + 1), 4);
            MemorySegment.copy(MemorySegment.ofArray(descriptors), 0, passed, 0, 4L * descriptors.length);
            assertThat(LocalSockets.send(socket, message.address(), bytes.length, passed.address(), descriptors.length))
                    .isEqualTo(bytes.length);
        }
    }

    /** They guess at secrets, send damaged messages and descriptors, or leave: the peer is met all the same. */
    @Test
    void strangers_keep_the_peer_from_nothing() {
        CudaOffer waiting = begin();
        Random random = new Random(5);
        for (int i = 0; i < 50; i++) {
            int stranger = connect(waiting);
            byte[] garbage = new byte[random.nextInt(40)];
            random.nextBytes(garbage);
            if (i % 3 == 0 && garbage.length > 0) {
                garbage[0] = CudaMessage.HELLO;
            }
            int descriptor = EventDescriptor.create();
            if (garbage.length > 0) {
                send(stranger, garbage, i % 2 == 0 ? new int[] {descriptor} : new int[0]);
            }
            acceptor.context.cycle();
            if (garbage.length == 0) {
                Sockets.close(stranger);
            }
            acceptor.context.cycle();
            if (garbage.length > 0) {
                Sockets.close(stranger);
            }
            Sockets.close(descriptor);
        }
        assertThat(acceptor.meetings).isZero();
        assertThat(acceptor.failures).isEmpty();
        meet(waiting);
        assertThat(acceptor.descriptors).isEmpty();
    }

    @Test
    void an_initiator_refuses_another_acceptor() {
        CudaOffer waiting = begin();
        // its secret is another one
        initiator.link.begin(new CudaOffer(waiting.meetingPoint(), secrets.draw()));
        Patience.until("it has left", () -> {
            acceptor.context.cycle();
            initiator.context.cycle();
            return !initiator.failures.isEmpty();
        });
        assertThat(initiator.meetings).isZero();
        assertThat(acceptor.meetings).isZero();
    }

    @Test
    void what_finds_no_room_is_sent_when_there_is_room() {
        meet(begin());
        int descriptor = EventDescriptor.create();
        byte[] message = CudaMessage.of(CudaMessage.MEMORY, 7);
        int sent = 0;
        while (initiator.link.send(ByteBuffer.wrap(message), descriptor)) {
            sent++;
        }
        Sockets.close(descriptor);
        assertThat(sent).isPositive();
        assertThat(initiator.context.waitsForRoom()).isTrue();
        assertThat(initiator.rooms).isZero();
        int expected = sent;
        Patience.until("all have come", () -> {
            acceptor.context.cycle();
            return acceptor.messages == expected;
        });
        initiator.context.cycle();
        assertThat(initiator.rooms).isEqualTo(1);
        assertThat(initiator.context.waitsForRoom()).isFalse();
        assertThat(initiator.link.send(ByteBuffer.wrap(message))).isTrue();
        assertThat(acceptor.descriptors).hasSize(sent);
    }

    @Test
    void more_descriptors_than_one_are_damage() {
        CudaOffer waiting = begin();
        int peer = connect(waiting);
        ByteBuffer hello = ByteBuffer.allocate(1 + SecretSource.BYTES)
                .put(CudaMessage.HELLO)
                .put(waiting.secret());
        send(peer, hello.array());
        Patience.until("it is met", () -> {
            acceptor.context.cycle();
            return acceptor.meetings == 1;
        });
        int descriptor = EventDescriptor.create();
        send(peer, CudaMessage.of(CudaMessage.MEMORY, 1), descriptor, descriptor);
        Sockets.close(descriptor);
        Patience.until("it is refused", () -> {
            acceptor.context.cycle();
            return !acceptor.failures.isEmpty();
        });
        assertThat(acceptor.failures.getFirst()).isInstanceOf(ProtocolException.class);
        Sockets.close(peer);
        assertThat(acceptor.descriptors).isEmpty();
    }

    @Test
    void the_end_of_the_peer_is_told_once() {
        meet(begin());
        initiator.link.close();
        Patience.until("it is told", () -> {
            acceptor.context.cycle();
            return acceptor.partings == 1;
        });
        acceptor.context.cycle();
        assertThat(acceptor.partings).isEqualTo(1);
        assertThat(acceptor.failures).isEmpty();
    }
}
