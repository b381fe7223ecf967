package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The files that a peer sends for its regions, and what it says of them, are checked before they are mapped. */
class HostileRegionsTest {
    private static final long BYTES = 16 << 10;
    private static final long HANDLE = 9;
    private static final int FUZZED_KEYS = 5000;
    private static final int FUZZED_PEERS = 60;

    private ProcessResources before;
    private LoneEndpoint endpoint;
    private FakePeer peer;

    @BeforeEach
    void meet() {
        LoneEndpoint.accepting().close();
        before = ProcessResources.now();
        meetAgain();
    }

    private void meetAgain() {
        endpoint = LoneEndpoint.accepting();
        peer = FakePeer.metBy(endpoint);
    }

    @AfterEach
    void everythingIsGivenBack() {
        part();
        before.assertRegained();
        assertThat(mappings()).isZero();
    }

    private void part() {
        endpoint.close();
        peer.close();
    }

    private static long mappings() {
        return ProcessResources.mappings("sluice-fake");
    }

    private static byte[] keys(long number, boolean writable, long fileBytes, long start) {
        return new RegionKeys(RegionKeys.Way.MAPPED, true, writable, number, fileBytes, false, start).toBytes();
    }

    private ShmRemoteKey key(boolean writable) {
        return endpoint.key(HANDLE, keys(1, writable, BYTES, 0), BYTES);
    }

    /** Has files wanted, and looks at which. */
    private CompletableFuture<@Nullable SluiceException> wanted(ShmRemoteKey... keys) throws InterruptedException {
        CompletableFuture<@Nullable SluiceException> outcome = endpoint.prepare(List.of(keys));
        ByteBuffer message = ByteBuffer.wrap(endpoint.nextSent());
        assertThat(message.get()).isEqualTo(ShmMessage.WANTED);
        assertThat(message.getLong()).isEqualTo(keys[0].handle());
        return outcome;
    }

    private void sendFile(boolean readOnly) {
        int file = BadFile.sealed(BYTES, readOnly);
        peer.files(new long[] {HANDLE}, new int[] {file});
        Sockets.close(file);
    }

    @Test
    void honestFileIsMappedAndUnmapped() throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        sendFile(false);
        assertThat(Patience.await(outcome)).isNull();
        assertThat(key.memory()).isNotNull();
        assertThat(mappings()).isEqualTo(1);
        endpoint.detach(key);
        assertThat(key.memory()).isNull();
        assertThat(mappings()).isZero();
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(BadFile.class)
    void badFileIsRefused(BadFile bad) throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        bad.use(BYTES, descriptor -> {
            peer.files(new long[] {HANDLE}, new int[] {descriptor});
            Patience.until("it is refused", endpoint::hasFailed);
        });
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
        assertThat(outcome).isNotDone();
        assertThat(key.memory()).isNull();
        assertThat(mappings()).isZero();
        peer.assertLinkEnds();
    }

    @Test
    void honestFileCannotBeCutOnceItIsSent() throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        int file = BadFile.sealed(BYTES, false);
        peer.files(new long[] {HANDLE}, new int[] {file});
        assertThat(Patience.await(outcome)).isNull();
        assertThat(BadFile.cut(file)).isFalse();
        Sockets.close(file);
    }

    @Test
    void fileThatCannotBeWrittenThoughThePeerSaysSoIsRefused() throws InterruptedException {
        wanted(key(true));
        sendFile(true);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class).hasMessageContaining("is read-only");
    }

    /** The descriptor gives the right to write, but the peer's endpoint says that the region is read-only. */
    @Test
    void callersThreadLeavesWritesToWhatCannotBeWritten() throws InterruptedException {
        ShmRemoteKey key = key(false);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        sendFile(true);
        assertThat(Patience.await(outcome)).isNull();
        try (Arena arena = Arena.ofShared()) {
            RegionMemory memory = RegionMemory.host(arena.allocate(64));
            assertThat(endpoint.endpoint().execute(WorkRequest.Opcode.READ, memory, 0, key, 0, 64))
                    .isTrue();
            assertThat(endpoint.endpoint().execute(WorkRequest.Opcode.WRITE, memory, 0, key, 0, 64))
                    .as("it is posted instead, and refused there")
                    .isFalse();
        }
    }

    @Test
    void fileThatThisProcessHasNoRoomForFailsTheAttachmentAlone() throws InterruptedException {
        long most = 1L << 47;
        int file = SharedMemory.create("sluice-fake".getBytes(StandardCharsets.US_ASCII), most, false, false);
        assertThat(file).isPositive();
        assertThat(SharedMemory.seal(file, false)).isZero();
        ShmRemoteKey key = endpoint.key(HANDLE, keys(1, true, most, 0), BYTES);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        peer.files(new long[] {HANDLE}, new int[] {file});
        Sockets.close(file);
        assertThat(Patience.await(outcome)).isInstanceOf(RegistrationException.class);
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @Test
    void filesThatWereNotWantedAreRefused() throws InterruptedException {
        sendFile(false);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void filesThatComeTwiceAreRefused() throws InterruptedException {
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key(true));
        sendFile(false);
        assertThat(Patience.await(outcome)).isNull();
        sendFile(false);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class);
    }

    @Test
    void fewerFilesThanThePeerSaysAreRefused() throws InterruptedException {
        wanted(key(true), endpoint.key(HANDLE + 1, keys(2, true, BYTES, 0), BYTES));
        int file = BadFile.sealed(BYTES, false);
        peer.files(new long[] {HANDLE, HANDLE + 1}, new int[] {file});
        Sockets.close(file);
        assertThat(endpoint.nextFailure()).isInstanceOf(ProtocolException.class).hasMessageContaining("fewer");
    }

    @Test
    void moreFilesThanThePeerSaysAreClosed() throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        int open = ProcessResources.now().descriptors();
        int file = BadFile.sealed(BYTES, false);
        int[] many = new int[200];
        Arrays.fill(many, file);
        peer.files(new long[] {HANDLE}, many);
        Sockets.close(file);
        Patience.until("it has taken a side", () -> outcome.isDone() || endpoint.hasFailed());
        Patience.until("all are closed", () -> ProcessResources.now().descriptors() <= open);
    }

    @Test
    void fileOfAnotherHandleIsNotTaken() throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        int file = BadFile.sealed(BYTES, false);
        peer.files(new long[] {HANDLE + 1}, new int[] {file});
        Sockets.close(file);
        Patience.until("it has taken a side", () -> outcome.isDone() || endpoint.hasFailed());
        assertThat(key.memory()).isNull();
        assertThat(mappings()).isZero();
    }

    @Test
    void twoDifferentThingsOfOneFileAreRefused() throws InterruptedException {
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key(true));
        sendFile(false);
        assertThat(Patience.await(outcome)).isNull();
        for (byte[] other : List.of(keys(1, false, BYTES, 0), keys(1, true, 2 * BYTES, BYTES))) {
            ShmRemoteKey second = endpoint.key(HANDLE + other.length + other[1], other, BYTES);
            assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> endpoint.prepare(List.of(second)));
        }
    }

    @Test
    void handleThatIsUsedTwiceIsRefused() {
        key(true);
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> key(true));
    }

    @Test
    void sliceThatLeavesItsFileIsRefused() {
        long[][] wrong = {{BYTES, 1}, {BYTES, -1}, {BYTES - 1, 0}, {0, 0}, {-1, 0}, {BYTES, Long.MAX_VALUE}};
        for (long[] sizeAndStart : wrong) {
            assertThatExceptionOfType(ProtocolException.class)
                    .as("%d bytes, from %d", sizeAndStart[0], sizeAndStart[1])
                    .isThrownBy(() -> endpoint.key(HANDLE, keys(1, true, sizeAndStart[0], sizeAndStart[1]), BYTES));
        }
    }

    @Test
    void attachmentThatEndsBeforeItsFileComesIsLetGo() throws InterruptedException {
        ShmRemoteKey key = key(true);
        CompletableFuture<@Nullable SluiceException> outcome = wanted(key);
        endpoint.received(ShmMessage.of(ShmMessage.ENDED, HANDLE));
        assertThat(endpoint.nextSent()).isEqualTo(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        sendFile(false);
        Patience.await(outcome);
        endpoint.settle();
        assertThat(key.memory()).isNull();
        assertThat(mappings()).isZero();
        assertThat(endpoint.hasFailed()).isFalse();
    }

    /** The last attachment of a file ends while another one of it still waits for a second file. */
    @Test
    void fileIsKeptForAnAttachmentThatIsBeingPrepared() throws InterruptedException {
        ShmRemoteKey first = key(true);
        CompletableFuture<@Nullable SluiceException> mapped = wanted(first);
        sendFile(false);
        assertThat(Patience.await(mapped)).isNull();
        ShmRemoteKey again = endpoint.key(HANDLE + 1, keys(1, true, BYTES, 0), BYTES);
        ShmRemoteKey other = endpoint.key(HANDLE + 2, keys(2, true, BYTES, 0), BYTES);
        CompletableFuture<@Nullable SluiceException> outcome = endpoint.prepare(List.of(again, other));
        ByteBuffer message = ByteBuffer.wrap(endpoint.nextSent());
        assertThat(message.get()).isEqualTo(ShmMessage.WANTED);
        assertThat(message.getLong()).isEqualTo(other.handle());
        endpoint.detach(first);
        int file = BadFile.sealed(BYTES, false);
        peer.files(new long[] {other.handle()}, new int[] {file});
        Sockets.close(file);
        assertThat(Patience.await(outcome)).isNull();
        assertThat(again.memory()).isNotNull();
        assertThat(other.memory()).isNotNull();
        assertThat(mappings()).isEqualTo(2);
        endpoint.detach(again);
        endpoint.detach(other);
        assertThat(mappings()).isZero();
        assertThat(endpoint.hasFailed()).isFalse();
    }

    /** The target's region cannot be closed without the word. */
    @Test
    void wordThatCouldNotBeSaidIsSaidLater() throws InterruptedException {
        ShmRemoteKey key = key(true);
        wanted(key);
        endpoint.keepWhenFailed();
        endpoint.failToSend();
        endpoint.received(ShmMessage.of(ShmMessage.ENDED, HANDLE));
        assertThat(endpoint.nextFailure()).hasMessageContaining("no memory");
        peer.link().wake();
        assertThat(endpoint.nextSent()).isEqualTo(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        endpoint.settle();
        assertThat(endpoint.hasSent()).isFalse();
    }

    @Test
    void attachmentThatEndsTwiceAndOneThatNeverWasAreAnswered() throws InterruptedException {
        ShmRemoteKey key = key(true);
        wanted(key);
        for (int i = 0; i < 3; i++) {
            endpoint.received(ShmMessage.of(ShmMessage.ENDED, HANDLE));
            assertThat(endpoint.nextSent()).isEqualTo(ShmMessage.of(ShmMessage.RELEASED, HANDLE));
        }
        assertThat(endpoint.hasFailed()).isFalse();
    }

    @Test
    void damagedKeysAreReadOrRefused() {
        FuzzSeed seed = FuzzSeed.of("HostileRegionsTest");
        Random random = seed.random();
        int refused = 0;
        for (int i = 0; i < seed.scaled(FUZZED_KEYS); i++) {
            byte[] bytes = OfferDamage.of(keys(7, true, BYTES, 0), random);
            long slice = random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(2 * (int) BYTES);
            try {
                RegionKeys read = RegionKeys.read(ByteBuffer.wrap(bytes), slice);
                if (read.way() == RegionKeys.Way.MAPPED && read.fileBytes() >= 0) {
                    assertThat(read.start()).isBetween(0L, read.fileBytes() - slice);
                }
            } catch (ProtocolException expected) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, seed.scaled(FUZZED_KEYS) - 1);
    }

    /** Keys, files and messages that are all damaged at once: typed failures, and nothing stays. */
    @Test
    void everythingDamaged() {
        FuzzSeed seed = FuzzSeed.of("HostileRegionsTest");
        int failures = 0;
        for (int i = 0; i < seed.scaled(FUZZED_PEERS); i++) {
            part();
            meetAgain();
            failures += damage(seed.random(i));
        }
        assertThat(failures).isPositive();
    }

    private int damage(Random random) {
        List<ShmRemoteKey> keys = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            byte[] right = keys(1 + random.nextInt(3), random.nextBoolean(), BYTES, 0);
            try {
                keys.add(endpoint.key(i, random.nextInt(3) == 0 ? OfferDamage.of(right, random) : right, 64));
            } catch (ProtocolException refused) {
                return 1;
            } catch (MemoryNotAccessibleException notByThisPath) {
                // the damage has made it a region of another kind
            }
        }
        try {
            endpoint.prepare(keys);
        } catch (ProtocolException refused) {
            return 1;
        }
        for (int round = 0; round < 3 && !endpoint.hasFailed(); round++) {
            int[] files = random.ints(random.nextInt(5), 0, 3)
                    .map(kind -> BadFile.sealed(kind == 0 ? 2 * BYTES : BYTES, kind == 1))
                    .toArray();
            ByteBuffer message = ByteBuffer.allocate(1 + 4 * 9).put(ShmMessage.FILES);
            LongStream.range(0, 4).forEach(handle -> message.putLong(handle).put((byte) random.nextInt(2)));
            byte[] bytes = Arrays.copyOf(message.array(), 1 + 9 * (1 + random.nextInt(4)));
            try {
                peer.send(random.nextInt(4) == 0 ? OfferDamage.of(bytes, random) : bytes, files);
            } catch (ProtocolException emptyMessage) {
                // an empty message cannot be sent
            }
            ShmPeerLink.closeAll(files);
            endpoint.settle();
        }
        for (ShmRemoteKey key : keys) {
            if (key.memory() != null) {
                key.memory().get(ValueLayout.JAVA_BYTE, 0);
            }
        }
        return endpoint.hasFailed() ? 1 : 0;
    }
}
