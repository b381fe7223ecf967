package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerAuthorizer;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.bootstrap.MessageSocket;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** However much work a peer asks for at once, it gets a part of each cycle, and the loop's other peers theirs. */
class CycleShareTest {
    private static final String GREEDY = "greedy";
    private static final String OTHER = "other";
    private static final int ATTACHES = 4;
    private static final int CONNECTIONS = 8;

    private final AtomicReference<@Nullable Consumer<String>> asked = new AtomicReference<>();
    private final PeerAuthorizer authorizer = new PeerAuthorizer() {
        @Override
        public boolean mayConnect(PeerIdentity peer) {
            return true;
        }

        @Override
        public Set<Access> access(PeerIdentity peer, String region) {
            Consumer<String> hearing = asked.get();
            if (hearing != null) {
                hearing.accept(region);
            }
            return EnumSet.allOf(Access.class);
        }
    };
    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("tcp"))
            .pollers(1)
            .authorizer(authorizer)
            .connectTimeout(Patience.BOUND)
            .handshakeTimeout(Patience.BOUND)
            // longer than any wait
            .livenessTimeout(Duration.ofHours(1))
            .build());
    private final MemoryRegion region =
            engine.allocate(64, RegionOptions.readWrite().named(GREEDY));
    private final RawPeer peer = RawPeer.connected(engine);

    @AfterEach
    void close() {
        peer.close();
        Patience.await(engine.closeAsync());
    }

    private static byte[] attach(List<RegionDescriptor> descriptors) {
        ByteBuffer body = ByteBuffer.allocate(8 + descriptors.size() * RegionDescriptor.BYTES)
                .putLong(1);
        descriptors.forEach(descriptor -> body.put(descriptor.toBytes()));
        return MessageSocket.encode(MessageType.ATTACH, body.array());
    }

    private static byte[] lookup(String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        return MessageSocket.encode(
                MessageType.LOOKUP,
                ByteBuffer.allocate(8 + text.length).putLong(1).put(text).array());
    }

    private static byte[] many(int count, byte[] message) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            all.writeBytes(message);
        }
        return all.toByteArray();
    }

    /** How many times the authorizer is asked in one cycle, at most. */
    private AtomicInteger mostInACycle() {
        AtomicInteger most = new AtomicInteger();
        int[] inThisCycle = {0};
        asked.set(name -> {
            if (inThisCycle[0]++ == 0) {
                TransferEngine.atEndOfCycle(() -> {
                    most.accumulateAndGet(inThisCycle[0], Math::max);
                    inThisCycle[0] = 0;
                });
            }
        });
        return most;
    }

    private void assertAttached(int count, ByteBuffer answer) {
        answer.getLong();
        for (int i = 0; i < count; i++) {
            assertThat(answer.get()).as("status").isZero();
            answer.getLong();
            answer.position(answer.position() + Short.BYTES + Short.toUnsignedInt(answer.getShort(answer.position())));
        }
        assertThat(answer.hasRemaining()).isFalse();
    }

    @Test
    void descriptorsAreLookedAtAFewACycle() {
        AtomicInteger most = mostInACycle();
        List<RegionDescriptor> thousand = Collections.nCopies(AttachMessage.BATCH, region.descriptor());
        peer.control().sendRaw(many(ATTACHES, attach(thousand)));
        for (int i = 0; i < ATTACHES; i++) {
            assertAttached(
                    AttachMessage.BATCH,
                    peer.control().receive(MessageType.ATTACH_RESULT).buffer());
        }
        assertThat(most).hasPositiveValue().hasValueLessThanOrEqualTo(ServedAttach.DESCRIPTORS_A_CYCLE);
    }

    /** A peer gains nothing by opening many connections. */
    @Test
    void connectionsDivideWhatACycleLooksAt() {
        List<Integer> asksByCycle = Collections.synchronizedList(new ArrayList<>());
        int[] inThisCycle = {0};
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch allHaveAsked = new CountDownLatch(1);
        asked.set(name -> {
            begun.countDown();
            Patience.await(allHaveAsked);
            if (inThisCycle[0]++ == 0) {
                TransferEngine.atEndOfCycle(() -> {
                    asksByCycle.add(inThisCycle[0]);
                    inThisCycle[0] = 0;
                });
            }
        });
        List<RegionDescriptor> thousand = Collections.nCopies(AttachMessage.BATCH, region.descriptor());
        List<RawPeer> all = new ArrayList<>(List.of(peer));
        try {
            for (int i = 1; i < CONNECTIONS; i++) {
                all.add(RawPeer.connected(engine));
            }
            peer.control().sendRaw(attach(thousand));
            Patience.await(begun);
            all.subList(1, CONNECTIONS).forEach(other -> other.control().sendRaw(attach(thousand)));
            allHaveAsked.countDown();
            all.forEach(one -> one.control().receive(MessageType.ATTACH_RESULT));
        } finally {
            all.subList(1, all.size()).forEach(RawPeer::close);
        }
        List<Integer> sorted = asksByCycle.stream().sorted().toList();
        // the loop counts the connections of a cycle for the next: the first cycles may look at more
        assertThat(sorted.get(sorted.size() / 2))
                .as("the median of %s", asksByCycle)
                .isLessThanOrEqualTo(ServedAttach.DESCRIPTORS_A_CYCLE);
    }

    @Test
    void lookUpsAreAnsweredAFewACycle() {
        AtomicInteger most = mostInACycle();
        int count = 2000;
        peer.control().sendRaw(many(count, lookup(GREEDY)));
        for (int i = 0; i < count; i++) {
            assertThat(peer.control().receive(MessageType.LOOKUP_RESULT).body()).hasSize(9 + RegionDescriptor.BYTES);
        }
        // the authorizer is asked twice for each
        assertThat(most).hasPositiveValue().hasValueLessThanOrEqualTo(2 * FramedSocket.MESSAGES_A_CYCLE);
    }

    /** Again where a busy kernel hands on what the other asks when all else is done. */
    @Test
    void otherPeerIsAnsweredInBetween() {
        Patience.until("the other is answered in between", this::otherIsAnsweredInBetween);
    }

    private boolean otherIsAnsweredInBetween() {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        try (RawPeer other = RawPeer.connected(engine)) {
            other.in(engine);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch otherHasAsked = new CountDownLatch(1);
            asked.set(name -> {
                order.add(name);
                if (order.size() == 1) {
                    begun.countDown();
                    Patience.await(otherHasAsked);
                }
            });
            List<RegionDescriptor> thousand = Collections.nCopies(AttachMessage.BATCH, region.descriptor());
            // so few that one cycle's bytes hold them
            peer.control().sendRaw(many(2, attach(thousand)));
            Patience.await(begun);
            other.control().sendRaw(lookup(OTHER));
            otherHasAsked.countDown();
            other.control().receive(MessageType.LOOKUP_RESULT);
            for (int i = 0; i < 2; i++) {
                peer.control().receive(MessageType.ATTACH_RESULT);
            }
        }
        assertThat(order).contains(OTHER);
        // it had to wait for a few cycles, and not for all that was asked before
        return order.indexOf(OTHER) < AttachMessage.BATCH && order.lastIndexOf(GREEDY) > order.indexOf(OTHER);
    }

    /** Messages after an attach are processed after it, though it takes several cycles. */
    @Test
    void orderIsKept() {
        List<RegionDescriptor> thousand = Collections.nCopies(AttachMessage.BATCH, region.descriptor());
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(attach(thousand));
        all.writeBytes(lookup(GREEDY));
        all.writeBytes(attach(thousand));
        peer.control().sendRaw(all.toByteArray());
        List<Integer> types = new ArrayList<>();
        while (types.size() < 3) {
            int type = peer.control().receive().type();
            if (type != MessageType.HEARTBEAT && type != MessageType.NOTIFY_PROGRESS) {
                types.add(type);
            }
        }
        assertThat(types)
                .containsExactly(MessageType.ATTACH_RESULT, MessageType.LOOKUP_RESULT, MessageType.ATTACH_RESULT);
    }

    @Test
    void regionThatClosesWhileTheRestIsLookedAtIsRefused() {
        MemoryRegion first = engine.allocate(64, RegionOptions.readWrite());
        AtomicInteger count = new AtomicInteger();
        asked.set(name -> {
            if (count.incrementAndGet() == 2 * ServedAttach.DESCRIPTORS_A_CYCLE) {
                first.close();
            }
        });
        List<RegionDescriptor> descriptors = new ArrayList<>();
        descriptors.add(first.descriptor());
        descriptors.addAll(Collections.nCopies(AttachMessage.BATCH - 1, region.descriptor()));
        peer.control().sendRaw(attach(descriptors));
        ByteBuffer answer = peer.control().receive(MessageType.ATTACH_RESULT).buffer();
        answer.getLong();
        assertThat(answer.get()).isEqualTo((byte) AttachMessage.REGION_CLOSED);
        assertThat(answer.getLong()).isZero();
        Patience.await(first.close());
    }

    /** Each may be a piece of memory that takes long to sum. */
    @Test
    void checksumsAreNotAskedForManyAtOnce() {
        long handle = peer.attach(region.descriptor());
        byte[] question = MessageSocket.encode(
                MessageType.CHECKSUM,
                ByteBuffer.allocate(ServedChecksums.QUESTION_BYTES)
                        .putLong(1)
                        .putLong(handle)
                        .putLong(region.descriptor().key())
                        .putLong(region.descriptor().epoch())
                        .putLong(0)
                        .putLong(region.length())
                        .array());
        for (int i = 0; i < 3; i++) {
            peer.control().sendRaw(question);
            assertThat(peer.control().receive(MessageType.CHECKSUM_RESULT).body()[8])
                    .isZero();
        }
        peer.control().sendRaw(many(FramedSocket.MESSAGES_A_CYCLE, question));
        Patience.until("the connection is ended", () -> peer.isGoneFrom(engine));
    }
}
