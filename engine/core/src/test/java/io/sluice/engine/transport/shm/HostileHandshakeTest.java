package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.Sockets;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.util.Arrays;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that connects to the meeting point, or waits there, is checked before anything of it is mapped. */
class HostileHandshakeTest {
    private static final int SEGMENT_BYTES = 4096 + 2 * ControlSegment.RING_BYTES;
    private static final int OFFERS = 3000;
    private static final String NAME = "sluice-000102030405060708090a0b0c0d0e0f";

    private ProcessResources before;

    @BeforeEach
    void count() {
        // what the first of all starts for the whole process
        LoneEndpoint.accepting().close();
        before = ProcessResources.now();
    }

    @AfterEach
    void everythingIsGivenBack() {
        before.assertRegained();
        assertThat(ProcessResources.mappings("sluice-fake")).isZero();
    }

    private static SluiceException failureOf(BiConsumer<LoneEndpoint, FakePeer> hostility) throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.accepting();
                FakePeer peer = FakePeer.of(endpoint)) {
            peer.come();
            hostility.accept(endpoint, peer);
            SluiceException failure = endpoint.nextFailure();
            peer.assertLinkEnds();
            return failure;
        }
    }

    @Test
    void honestPeerIsMet() {
        try (LoneEndpoint endpoint = LoneEndpoint.accepting();
                FakePeer peer = FakePeer.metBy(endpoint)) {
            assertThat(peer.segment().answered()).isNotZero();
            assertThat(endpoint.hasFailed()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(BadFile.class)
    void badControlSegmentIsRefused(BadFile bad) throws InterruptedException {
        SluiceException failure = failureOf((endpoint, peer) -> bad.use(SEGMENT_BYTES, descriptor -> {
            peer.hello(peer.theirs().secret(), descriptor);
            Patience.until("it is refused", endpoint::hasFailed);
        }));
        assertThat(failure).isInstanceOf(ProtocolException.class).hasMessageContaining("control segment is refused");
    }

    @Test
    void readOnlyControlSegmentIsRefused() throws InterruptedException {
        int descriptor = BadFile.sealed(SEGMENT_BYTES, true);
        SluiceException failure =
                failureOf((endpoint, peer) -> peer.hello(peer.theirs().secret(), descriptor));
        Sockets.close(descriptor);
        assertThat(failure).isInstanceOfAny(ProtocolException.class, TransportUnavailableException.class);
    }

    @Test
    void controlSegmentOfAnotherLayoutIsRefused() throws InterruptedException {
        int descriptor = BadFile.sealed(SEGMENT_BYTES, false);
        SluiceException failure =
                failureOf((endpoint, peer) -> peer.hello(peer.theirs().secret(), descriptor));
        Sockets.close(descriptor);
        assertThat(failure).isInstanceOf(ProtocolException.class).hasMessageContaining("another layout");
    }

    @Test
    void strangerIsRefused() throws InterruptedException {
        SluiceException failure = failureOf((endpoint, peer) -> {
            ControlSegment.Made made = ControlSegment.make();
            byte[] wrong = peer.theirs().secret();
            wrong[wrong.length - 1]++;
            peer.hello(wrong, made.descriptor());
            Sockets.close(made.descriptor());
            made.segment().close();
        });
        assertThat(failure).isInstanceOf(ProtocolException.class).hasMessageContaining("does not know its secret");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 16})
    void wrongNumberOfDescriptorsIsRefused(int count) throws InterruptedException {
        SluiceException failure = failureOf((endpoint, peer) -> {
            ControlSegment.Made made = ControlSegment.make();
            int[] descriptors = new int[count];
            Arrays.fill(descriptors, made.descriptor());
            peer.hello(peer.theirs().secret(), descriptors);
            Sockets.close(made.descriptor());
            made.segment().close();
        });
        assertThat(failure).isInstanceOf(ProtocolException.class);
    }

    /** Sent with descriptors, so that a refused message must not leave them open. */
    @ParameterizedTest
    @ValueSource(bytes = {ShmMessage.WELCOME, ShmMessage.FILES, ShmMessage.STOPPED, 0, 99, -1})
    void messagesOutOfTurnAreRefused(byte type) throws InterruptedException {
        SluiceException failure = failureOf((endpoint, peer) -> {
            ControlSegment.Made made = ControlSegment.make();
            peer.send(new byte[] {type, 0, 0}, made.descriptor());
            Sockets.close(made.descriptor());
            made.segment().close();
        });
        assertThat(failure).isInstanceOf(ProtocolException.class);
    }

    @Test
    void cutHelloIsRefused() throws InterruptedException {
        for (int length = 0; length < ShmOffer.SECRET_BYTES; length++) {
            int bytes = length;
            SluiceException failure = failureOf(
                    (endpoint, peer) -> peer.hello(Arrays.copyOf(peer.theirs().secret(), bytes)));
            assertThat(failure).as("%d bytes", length).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void whoComesAndGoesIsAFailure() throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.accepting();
                FakePeer peer = FakePeer.of(endpoint)) {
            peer.come();
            peer.link().close();
            assertThat(endpoint.nextFailure()).isInstanceOf(TransportUnavailableException.class);
        }
    }

    @Test
    void secondHelloIsRefused() throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.accepting();
                FakePeer peer = FakePeer.metBy(endpoint)) {
            ControlSegment.Made made = ControlSegment.make();
            peer.hello(peer.theirs().secret(), made.descriptor());
            Sockets.close(made.descriptor());
            made.segment().close();
            assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void initiatorRefusesAWelcomeWithoutTheAnswer() throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.initiating();
                FakePeer peer = FakePeer.awaiting(endpoint)) {
            FakePeer.Received hello = peer.next();
            assertThat(hello.bytes()).startsWith(ShmMessage.HELLO);
            ShmPeerLink.closeAll(hello.descriptors());
            peer.send(new byte[] {ShmMessage.WELCOME, 0});
            assertThat(endpoint.nextFailure())
                    .isInstanceOf(TransportUnavailableException.class)
                    .hasMessageContaining("other memory");
        }
    }

    @ParameterizedTest
    @ValueSource(bytes = {ShmMessage.HELLO, ShmMessage.FILES, ShmMessage.STOPPED, 77})
    void initiatorRefusesMessagesOutOfTurn(byte type) throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.initiating();
                FakePeer peer = FakePeer.awaiting(endpoint)) {
            FakePeer.Received hello = peer.next();
            byte[] message = new byte[64];
            message[0] = type;
            peer.send(message, hello.descriptors());
            ShmPeerLink.closeAll(hello.descriptors());
            assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
            peer.assertLinkEnds();
        }
    }

    @Test
    void damagedOffersAreTypedFailures() throws InterruptedException {
        FuzzSeed seed = FuzzSeed.of("HostileHandshakeTest");
        ShmOffer right;
        try (LoneEndpoint endpoint = LoneEndpoint.accepting()) {
            right = endpoint.offer();
        }
        int refused = 0;
        for (int i = 0; i < seed.scaled(40); i++) {
            try (LoneEndpoint endpoint = i % 2 == 0 ? LoneEndpoint.accepting() : LoneEndpoint.initiating()) {
                endpoint.offer();
                endpoint.begin(OfferDamage.of(right.toBytes(), seed.random(i)));
                refused += endpoint.hasFailed() ? 1 : 0;
            }
        }
        // the initiators at least, since no acceptor waits for them
        assertThat(refused).isPositive();
    }

    /** It becomes part of a path and of a socket's address. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sluice-",
                "sluice-00",
                "other-000102030405060708090a0b0c0d0e0f",
                "sluice-000102030405060708090A0B0C0D0E0F",
                NAME + "0",
                NAME + "\n",
                NAME + "\0",
                "..",
                "../" + NAME
            })
    void aNameThatIsNoneOfAMeetingPointIsRefused(String name) {
        byte[] offer = new ShmOffer("boot net dir", name, new byte[16], 5, new byte[16]).toBytes();
        assertThatThrownBy(() -> ShmOffer.read(offer)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void anAcceptorWithoutAMeetingPointIsRefused() throws InterruptedException {
        try (LoneEndpoint endpoint = LoneEndpoint.initiating()) {
            ShmOffer own = endpoint.offer();
            endpoint.begin(new ShmOffer(own.host(), "", new byte[16], 0, new byte[16]));
            assertThat(endpoint.nextFailure())
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("does not name a meeting point");
        }
    }

    @Test
    void damagedOffersAreReadOrRefused() {
        FuzzSeed seed = FuzzSeed.of("HostileHandshakeTest");
        Random random = seed.random();
        byte[] right = new ShmOffer("boot net dir", NAME, new byte[16], 5, new byte[16]).toBytes();
        int refused = 0;
        for (int i = 0; i < seed.scaled(OFFERS); i++) {
            try {
                ShmOffer read = ShmOffer.read(OfferDamage.of(right, random));
                assertThat(read.secret()).hasSize(ShmOffer.SECRET_BYTES);
                assertThat(read.meetingPoint()).matches("|sluice-[0-9a-f]{32}");
            } catch (ProtocolException expected) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, seed.scaled(OFFERS) - 1);
    }
}
