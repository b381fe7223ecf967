package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.bootstrap.MessageSocket;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that breaks the rules of the control channel loses its connection; the engine and all others go on. */
class ControlChannelAbuseTest {
    private static final int CREDITS = 4;
    private static final int MAX_NOTIFICATION = 1000;

    private final CapturedLog log = CapturedLog.warnings();
    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("tcp"))
            .notificationCredits(CREDITS)
            .maxNotificationBytes(MAX_NOTIFICATION)
            .connectTimeout(Patience.BOUND)
            .handshakeTimeout(Patience.BOUND)
            // longer than any wait: a connection that ends takes everything along at once
            .livenessTimeout(Duration.ofHours(1))
            .build());
    private final MemoryRegion region = engine.allocate(64, RegionOptions.readWrite());
    private final RawPeer peer = RawPeer.connected(engine);

    @AfterEach
    void close() {
        peer.close();
        Patience.await(engine.closeAsync());
        log.close();
    }

    private void assertEnded() {
        Patience.until("the connection is ended", () -> peer.isGoneFrom(engine));
        peer.control().awaitEnd();
        MessageSocket.awaitEnd(peer.lane(0));
        assertHonestPeerIsServed();
    }

    private void assertHonestPeerIsServed() {
        try (RawPeer honest = RawPeer.connected(engine)) {
            honest.attach(region.descriptor());
            assertThat(honest.in(engine).peer()).isEqualTo(honest.id());
        }
        log.assertNoErrors();
    }

    // ---- messages that are none ----

    @ParameterizedTest
    @ValueSource(ints = {128 * 1024 + 1, 1 << 24, Integer.MAX_VALUE, Integer.MAX_VALUE - 7, -1, Integer.MIN_VALUE})
    void messageThatClaimsMoreThanIsAllowed(int length) {
        peer.control().sendRaw(MessageSocket.header(0x534C, 1, MessageType.NOTIFY, length));
        assertEnded();
    }

    @Test
    void longestMessageIsReadWhole() {
        peer.control().send(MessageType.HEARTBEAT, new byte[128 * 1024]);
        peer.attach(region.descriptor());
        assertHonestPeerIsServed();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                MessageType.HELLO,
                MessageType.WELCOME,
                MessageType.AUTHENTICATE,
                MessageType.ACCEPT,
                MessageType.REJECT,
                MessageType.LANE,
                MessageType.LANE_ACCEPT,
                15,
                27,
                127,
                128,
                255
            })
    void messageThatDoesNotBelongHere(int type) {
        peer.control().send(type, new byte[64]);
        assertEnded();
    }

    @Test
    void bytesOfAnotherProtocol() {
        peer.control().sendRaw("GET / HTTP/1.1\r\nHost: engine\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertEnded();
    }

    @Test
    void anotherVersion() {
        peer.control().sendRaw(MessageSocket.header(0x534C, 2, MessageType.HEARTBEAT, 0));
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(ints = {MessageType.HEARTBEAT, MessageType.ATTACH, MessageType.LOOKUP, MessageType.NOTIFY})
    void anythingBeforeReady(int type) {
        try (RawPeer hasty = new RawPeer(engine.address())) {
            hasty.hello();
            hasty.welcomed();
            hasty.authenticate();
            hasty.accepted();
            hasty.openLane(0);
            hasty.control().send(type, new byte[8]);
            hasty.control().awaitEnd();
            Patience.until("the engine has no connection", () -> hasty.isGoneFrom(engine));
        }
        assertHonestPeerIsServed();
    }

    @Test
    void readyTwice() {
        peer.ready();
        assertEnded();
    }

    // ---- notifications ----

    @Test
    void notificationWithoutACredit() {
        Connection connection = peer.in(engine);
        for (int i = 0; i < CREDITS; i++) {
            peer.notifyEngine(new byte[] {(byte) i});
        }
        assertHonestPeerIsServed();
        peer.notifyEngine(new byte[] {99});
        assertEnded();
        // Those that had a credit can still be taken; the one that had none is not among them.
        Recorder recorder = new Recorder();
        connection.subscribe(recorder).request(Long.MAX_VALUE);
        assertThat(Patience.await(recorder.ended)).isInstanceOf(ConnectionLostException.class);
        assertThat(recorder.payloads).containsExactly(new byte[] {0}, new byte[] {1}, new byte[] {2}, new byte[] {3});
    }

    @Test
    void creditsComeBackOneForOneAndNoMore() {
        Recorder recorder = new Recorder();
        peer.in(engine).subscribe(recorder).request(2);
        for (int i = 0; i < CREDITS; i++) {
            peer.notifyEngine(new byte[0]);
        }
        Patience.until("two were taken", () -> recorder.payloads.size() == 2);
        int granted = 0;
        while (granted < 2) {
            ByteBuffer progress =
                    peer.control().receive(MessageType.NOTIFY_PROGRESS).buffer();
            progress.getInt();
            granted += progress.getInt();
        }
        assertThat(granted).isEqualTo(2);
        peer.notifyEngine(new byte[0]);
        peer.notifyEngine(new byte[0]);
        assertHonestPeerIsServed();
        peer.notifyEngine(new byte[0]);
        assertEnded();
    }

    private static final class Recorder implements NotificationListener {
        private final List<byte[]> payloads = new CopyOnWriteArrayList<>();
        private final CompletableFuture<@Nullable SluiceException> ended = new CompletableFuture<>();

        @Override
        public void notification(byte[] payload) {
            payloads.add(payload);
        }

        @Override
        public void ended(@Nullable SluiceException error) {
            ended.complete(error);
        }
    }

    @Test
    void longestNotificationAndOneByteMore() {
        peer.notifyEngine(new byte[MAX_NOTIFICATION]);
        assertHonestPeerIsServed();
        peer.notifyEngine(new byte[MAX_NOTIFICATION + 1]);
        assertEnded();
    }

    @Test
    void progressOfNotificationsNeverSent() {
        peer.control().send(MessageType.NOTIFY_PROGRESS, progress(1, 0));
        assertEnded();
    }

    @Test
    void negativeProgress() {
        peer.control().send(MessageType.NOTIFY_PROGRESS, progress(0, -1));
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 9})
    void progressOfAnotherLength(int bytes) {
        peer.control().send(MessageType.NOTIFY_PROGRESS, new byte[bytes]);
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1000, Integer.MAX_VALUE})
    void creditsThatWereNeverTaken(int granted) {
        peer.control().send(MessageType.NOTIFY_PROGRESS, progress(0, granted));
        assertEnded();
    }

    private static byte[] progress(int acknowledged, int granted) {
        return ByteBuffer.allocate(8).putInt(acknowledged).putInt(granted).array();
    }

    // ---- regions ----

    @ParameterizedTest
    @ValueSource(ints = {0, 7, 9, 8 + 63, 8 + 65, 8 + 1001 * 64})
    void attachOfAnotherLength(int bytes) {
        peer.control().send(MessageType.ATTACH, new byte[bytes]);
        assertEnded();
    }

    @Test
    void attachOfNothingIsAnswered() {
        assertThat(peer.attach().remaining()).isZero();
        assertHonestPeerIsServed();
    }

    @Test
    void attachOfAThousandForgeriesIsRefusedOneByOne() {
        byte[][] descriptors = new byte[1000][];
        for (int i = 0; i < descriptors.length; i++) {
            descriptors[i] = i == 500 ? region.descriptor().toBytes() : new byte[RegionDescriptor.BYTES];
        }
        ByteBuffer answer = peer.attach(descriptors);
        for (int i = 0; i < descriptors.length; i++) {
            assertThat(answer.get() == 0).as("descriptor %d is attached", i).isEqualTo(i == 500);
            answer.getLong();
            assertThat(answer.getShort()).as("tcp has no keys").isZero();
        }
    }

    /** The bounds of what it grants, the run, the engine: with the key of a genuine one, and with a checksum that fits. */
    @Test
    void genuineDescriptorWithAnyFieldChangedIsRefused() {
        RegionDescriptor genuine = region.slice(8, 16).descriptor(Set.of(Access.REMOTE_READ));
        for (RegionDescriptor forged : List.of(
                Forgery.of(genuine).engineId(EngineId.random()).make(),
                Forgery.of(genuine).epoch(genuine.epoch() + 1).make(),
                Forgery.of(genuine).regionId(genuine.regionId() + 1).make(),
                Forgery.of(genuine).key(genuine.key() + 1).make(),
                Forgery.of(genuine).access(region.access()).make(),
                Forgery.of(genuine).offset(0).make(),
                Forgery.of(genuine).offset(9).make(),
                Forgery.of(genuine).length(17).make(),
                Forgery.of(genuine).length(15).make(),
                Forgery.of(genuine).length(Long.MAX_VALUE - 8).make())) {
            assertThat(peer.attach(forged.toBytes()).get())
                    .as(forged.toString())
                    .isNotZero();
        }
        assertThat(peer.attach(genuine.toBytes()).get()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 15})
    void detachThatIsCutShort(int bytes) {
        peer.control().send(MessageType.DETACH, new byte[bytes]);
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7})
    void lookupThatIsCutShort(int bytes) {
        peer.control().send(MessageType.LOOKUP, new byte[bytes]);
        assertEnded();
    }

    @Test
    void lookupOfANameThatIsNoText() {
        byte[] question = new byte[8 + 100_000];
        Arrays.fill(question, (byte) 0xff);
        peer.control().send(MessageType.LOOKUP, question);
        assertThat(peer.control().receive(MessageType.LOOKUP_RESULT).body()).hasSize(9);
        assertHonestPeerIsServed();
    }

    @ParameterizedTest
    @ValueSource(ints = {MessageType.ATTACH_RESULT, MessageType.DETACH_RESULT, MessageType.LOOKUP_RESULT})
    void answerToAQuestionNeverAsked(int type) {
        peer.control().send(type, new byte[8]);
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 16, 18, 20})
    void answerToAttachOfAnotherLength(int bytes) {
        CompletableFuture<?> attached = peer.in(engine).attach(ofThePeer());
        long request = peer.control().receive(MessageType.ATTACH).buffer().getLong();
        peer.control()
                .send(
                        MessageType.ATTACH_RESULT,
                        ByteBuffer.allocate(Math.max(8, bytes)).putLong(request).array());
        Patience.failure(attached, SluiceException.class);
        assertEnded();
    }

    private RegionDescriptor ofThePeer() {
        return new RegionDescriptor(peer.id(), peer.epoch(), 1, 2, MemoryKind.HOST, region.access(), 0, 64);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64, 65, 66})
    void answerToALookupThatIsDamaged(int bytes) {
        CompletableFuture<?> found = peer.in(engine).lookup("name");
        long request = peer.control().receive(MessageType.LOOKUP).buffer().getLong();
        peer.control()
                .send(
                        MessageType.LOOKUP_RESULT,
                        ByteBuffer.allocate(8 + bytes).putLong(request).array());
        Patience.failure(found, SluiceException.class);
        assertEnded();
    }

    @Test
    void peerMayAttachNoMoreThanTheLimit() {
        EngineOptions few = PatientOptions.builder()
                .transports(List.of("tcp"))
                .maxAttachedRegions(3)
                .build();
        try (TransferEngine strict = TransferEngine.open(few);
                RawPeer greedy = RawPeer.connected(strict)) {
            byte[] descriptor =
                    strict.allocate(64, RegionOptions.readWrite()).descriptor().toBytes();
            long first = 0;
            for (int i = 0; i < 3; i++) {
                ByteBuffer answer = greedy.attach(descriptor);
                assertThat(answer.get()).isZero();
                first = i == 0 ? answer.getLong() : first;
            }
            assertThat(greedy.attach(descriptor).get()).isNotZero();
            greedy.detach(first);
            assertThat(greedy.attach(descriptor).get()).isZero();
            assertThat(greedy.attach(descriptor).get()).isNotZero();
        }
    }

    // ---- words of the peer ----

    /** Texts of a peer are quoted in exceptions and logs, so they must be short. */
    @Test
    void longGoodbyeIsNotRepeatedAtLength() {
        byte[] reason = new byte[120_000];
        Arrays.fill(reason, (byte) 'x');
        Connection connection = peer.in(engine);
        CompletableFuture<?> attached = connection.attach(ofThePeer());
        peer.control().receive(MessageType.ATTACH);
        peer.control().send(MessageType.GOODBYE, reason);
        assertThat(Patience.failure(attached, SluiceException.class).getMessage())
                .hasSizeLessThan(2000);
    }
}
