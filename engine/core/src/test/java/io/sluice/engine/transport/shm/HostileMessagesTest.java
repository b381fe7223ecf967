package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.ProtocolException;
import io.sluice.jni.SharedMemory;
import io.sluice.testkit.FuzzSeed;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer's requests for regions of this engine, over the control channel. */
class HostileMessagesTest {
    private static final long BYTES = 8192;
    private static final long HANDLE = 5;
    private static final int FUZZED_PEERS = 60;
    private static final int MESSAGES = 40;

    private ProcessResources before;
    private LoneEndpoint endpoint;
    private FakePeer peer;
    private FileRegion region;

    @BeforeEach
    void meet() {
        LoneEndpoint.accepting().close();
        before = ProcessResources.now();
        meetAgain();
    }

    private void meetAgain() {
        endpoint = LoneEndpoint.accepting();
        peer = FakePeer.metBy(endpoint);
        region = endpoint.region(BYTES, EnumSet.of(Access.REMOTE_READ));
        endpoint.keysOf(HANDLE, region);
    }

    @AfterEach
    void everythingIsGivenBack() {
        part();
        before.assertRegained();
    }

    private void part() {
        endpoint.close();
        assertThat(region.leases()).as("leases that stay").isZero();
        region.close();
        peer.close();
    }

    private static byte[] wanted(long... handles) {
        ByteBuffer message =
                ByteBuffer.allocate(1 + handles.length * Long.BYTES).put(ShmMessage.WANTED);
        Arrays.stream(handles).forEach(message::putLong);
        return message.array();
    }

    private FakePeer.Received answerTo(long... handles) {
        endpoint.received(wanted(handles));
        FakePeer.Received answer = peer.next();
        assertThat(answer.bytes()[0]).isEqualTo(ShmMessage.FILES);
        assertThat(answer.bytes()).hasSize(1 + handles.length * (Long.BYTES + 1));
        return answer;
    }

    @Test
    void wantedFileComesSealed() {
        FakePeer.Received answer = answerTo(HANDLE);
        assertThat(answer.descriptors()).hasSize(1);
        int file = answer.descriptors()[0];
        assertThat(SharedMemory.check(file, BYTES, false)).isZero();
        assertThat(BadFile.cut(file)).as("the peer can cut it").isFalse();
        assertThat(SharedMemory.map(file, BYTES, true, false))
                .as("the peer can write it")
                .isNegative();
        ShmPeerLink.closeAll(answer.descriptors());
    }

    @Test
    void unknownHandlesHaveNoFile() {
        FakePeer.Received answer = answerTo(0, -1, HANDLE + 1, Long.MIN_VALUE);
        assertThat(answer.descriptors()).isEmpty();
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @Test
    void attachmentThatHasEndedHasNoFile() {
        endpoint.exportEnded(HANDLE);
        assertThat(answerTo(HANDLE).descriptors()).isEmpty();
    }

    @Test
    void oneHandleManyTimesIsAnswered() {
        FakePeer.Received answer = answerTo(
                LongStream.generate(() -> HANDLE).limit(ShmMessage.MOST_FILES).toArray());
        assertThat(answer.descriptors()).hasSize(ShmMessage.MOST_FILES);
        ShmPeerLink.closeAll(answer.descriptors());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, ShmMessage.MOST_FILES + 1, 500})
    void wrongNumberOfHandlesIsRefused(int count) throws InterruptedException {
        endpoint.received(wanted(new long[count]));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 9, 15})
    void damagedWishIsRefused(int bytes) throws InterruptedException {
        byte[] message = new byte[1 + bytes];
        message[0] = ShmMessage.WANTED;
        endpoint.received(message);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    /** Files that the peer never takes must not pile up. */
    @Test
    void wishesOfAPeerThatTakesNothingAreRefusedInTheEnd() throws InterruptedException {
        long[] many =
                LongStream.generate(() -> HANDLE).limit(ShmMessage.MOST_FILES).toArray();
        for (int i = 0; i < 10_000 && !endpoint.hasFailed(); i++) {
            endpoint.received(wanted(many));
        }
        assertThat(endpoint.hasFailed()).isTrue();
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    /** Until the connection has ended, nothing may be written to the socket that is gone. */
    @Test
    void socketThatEndsWhileFilesAreOwedIsLeftAlone() {
        endpoint.keepWhenFailed();
        long[] many =
                LongStream.generate(() -> HANDLE).limit(ShmMessage.MOST_FILES).toArray();
        // the second of two that wait is refused: from then on files are owed
        for (int i = 0; i < 10_000 && !endpoint.hasFailed(); i++) {
            endpoint.received(wanted(many));
        }
        endpoint.nextFailure();
        try (CapturedLog log = CapturedLog.warnings()) {
            peer.close();
            assertThat(endpoint.nextFailure()).hasMessageContaining("closed its end");
            endpoint.received(wanted(HANDLE));
            // a few cycles, in each of which it would be written to
            for (int i = 0; i < 5; i++) {
                endpoint.settle();
            }
            log.assertNoErrors();
        }
    }

    @Test
    void releaseOfWhatHasNotEndedIsRefused() throws InterruptedException {
        endpoint.received(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void releaseOfWhatNeverWasIsRefused() throws InterruptedException {
        endpoint.received(ShmMessage.of(ShmMessage.RELEASED, HANDLE + 1));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void secondReleaseIsRefused() throws InterruptedException {
        endpoint.exportEnded(HANDLE);
        assertThat(region.leases()).as("until the peer has said so").isEqualTo(1);
        endpoint.received(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        assertThat(region.leases()).isZero();
        endpoint.received(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
        assertThat(region.leases()).isZero();
    }

    @ParameterizedTest
    @ValueSource(bytes = {ShmMessage.ENDED, ShmMessage.RELEASED})
    void cutMessagesAreRefused(byte type) throws InterruptedException {
        endpoint.received(Arrays.copyOf(ShmMessage.of(type, HANDLE), 8));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, 4, ShmMessage.HELLO, ShmMessage.FILES, -1})
    void unknownMessagesAreRefused(byte type) throws InterruptedException {
        endpoint.received(ShmMessage.of(type, HANDLE));
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void emptyMessageIsRefused() throws InterruptedException {
        endpoint.received(new byte[0]);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void anyMessages() {
        FuzzSeed seed = FuzzSeed.of("HostileMessagesTest");
        int failures = 0;
        for (int i = 0; i < seed.scaled(FUZZED_PEERS); i++) {
            part();
            meetAgain();
            Random random = seed.random(i);
            for (int message = 0; message < MESSAGES && !endpoint.hasFailed(); message++) {
                if (random.nextInt(10) == 0) {
                    endpoint.exportEnded(HANDLE);
                }
                endpoint.received(any(random));
            }
            failures += endpoint.hasFailed() ? 1 : 0;
        }
        assertThat(failures).isPositive();
    }

    private static byte[] any(Random random) {
        byte[] right = switch (random.nextInt(4)) {
            case 0 -> wanted(random.longs(1 + random.nextInt(3), 0, 10).toArray());
            case 1 -> ShmMessage.of(ShmMessage.ENDED, random.nextInt(10));
            case 2 -> ShmMessage.of(ShmMessage.RELEASED, random.nextInt(10));
            default -> wanted(HANDLE);
        };
        return random.nextInt(8) == 0 ? OfferDamage.of(right, random) : right;
    }
}
