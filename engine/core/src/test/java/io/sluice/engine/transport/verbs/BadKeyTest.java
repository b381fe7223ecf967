package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.VerbsControlMessage.Fence;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An adapter refuses a transfer whose remote key or address is wrong, and breaks the queue pair by the specification. The
 * transfer gets the error; all others, and the connection, do not notice.
 */
@Tag("verbs")
@Tag("softroce")
class BadKeyTest {
    private static final int BYTES = 64 << 10;
    private static final byte CANARY = 0x5A;

    private static void assertUntouched(MemoryRegion region) {
        MemorySegment untouched = MemorySegment.ofArray(new byte[BYTES]).fill(CANARY);
        assertThat(region.segment().mismatch(untouched)).isEqualTo(-1);
    }

    private static MemoryRegion canary(VerbsPair pair) {
        MemoryRegion region = pair.served(BYTES);
        region.segment().fill(CANARY);
        return region;
    }

    private static TransferEnd transfer(VerbsPair pair, boolean write, MemoryRegion local, RemoteRegion remote) {
        return write ? pair.write(local, 0, remote, 0, BYTES) : pair.read(local, 0, remote, 0, BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void transferWithABadKeyFailsAloneUnderLoad(int lanes) {
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(lanes))) {
            MemoryRegion region = canary(pair);
            MemoryRegion local = pair.local(BYTES);
            RemoteRegion forged = ForgedKeys.withBadKey(pair.attach(region));
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            for (int round = 0; round < TestDevices.rounds(50); round++) {
                RemoteAccessException refused =
                        transfer(pair, round % 2 == 0, local, forged).awaitFailure(RemoteAccessException.class);
                assertThat(refused.reason()).isEqualTo(RemoteAccessException.Reason.ACCESS_DENIED);
                load.awaitProgress(20);
                back.awaitProgress(20);
            }
            load.stopAndCheck();
            back.stopAndCheck();
            assertUntouched(region);
            assertThat(local.segment().mismatch(MemorySegment.ofArray(new byte[BYTES])))
                    .isEqualTo(-1);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            assertThat(pair.accepted().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    /** A region that closes is deregistered before the loop takes it out of its table: the peer may ask in between. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRegionThatIsClosingIsNotSaidToBeAttached(boolean closing) {
        VerbsOptions first = VerbsOptions.builder().devices(TestDevices.get(0)).build();
        VerbsOptions second = VerbsOptions.builder().devices(TestDevices.get(1)).build();
        try (LoneEndpoint target = new LoneEndpoint(first, BYTES);
                LoneEndpoint initiator = new LoneEndpoint(second, BYTES)) {
            target.connect(initiator);
            if (closing) {
                target.region().closing();
            }
            target.received(ByteBuffer.wrap(new Fence(0, 0, 0, 1, 2, LoneEndpoint.HANDLE).toBytes()));
            assertThat(target.sent()).contains(VerbsControlMessage.refused(0, !closing));
        }
    }

    /** So that it refuses transfers before they reach an adapter, which would break a queue pair for each. */
    @Test
    void thePeerIsToldThatARegionHasEnded() {
        VerbsOptions first = VerbsOptions.builder().devices(TestDevices.get(0)).build();
        VerbsOptions second = VerbsOptions.builder().devices(TestDevices.get(1)).build();
        try (LoneEndpoint target = new LoneEndpoint(first, BYTES);
                LoneEndpoint initiator = new LoneEndpoint(second, BYTES)) {
            target.connect(initiator);
            RemoteKey remote = initiator.attach(target.keys(), BYTES);
            target.exportEnded(remote.handle());
            byte[] message = VerbsControlMessage.ended(remote.handle());
            assertThat(target.sent()).contains(message);
            initiator.received(ByteBuffer.wrap(message));
            CompletableFuture<CompletionStatus> end = new CompletableFuture<>();
            initiator.doOnLoop(
                    () -> initiator.post(WorkRequest.Opcode.WRITE, remote).thenAccept(end::complete));
            assertThat(Patience.await(end)).isEqualTo(CompletionStatus.UNKNOWN_REGION);
            assertThat(initiator.sent()).isEmpty();
        }
    }

    @Test
    void badAndGoodTransfersInOneRowEachGetTheirOwnEnd() {
        try (VerbsPair pair = VerbsPair.open(both -> {})) {
            MemoryRegion region = canary(pair);
            MemoryRegion good = pair.served(BYTES);
            MemoryRegion local = pair.local(BYTES);
            local.segment().fill((byte) 7);
            RemoteRegion genuine = pair.attach(good);
            RemoteRegion forged = ForgedKeys.withBadKey(pair.attach(region));
            List<TransferEnd> refused = new ArrayList<>();
            List<TransferEnd> granted = new ArrayList<>();
            for (int i = 0; i < TestDevices.rounds(200); i++) {
                if (i % 8 == 3) {
                    refused.add(transfer(pair, i % 16 == 3, pair.local(BYTES), forged));
                } else {
                    granted.add(pair.write(local, i, genuine, i, 64));
                }
            }
            granted.forEach(TransferEnd::awaitSuccess);
            refused.forEach(end -> end.awaitFailure(RemoteAccessException.class));
            assertUntouched(region);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-4096, -1, 1, BYTES, 1L << 32, Long.MIN_VALUE})
    void addressThatLeavesTheRegionIsRefused(long shift) {
        try (VerbsPair pair = VerbsPair.open(both -> {})) {
            MemoryRegion region = canary(pair);
            MemoryRegion local = pair.local(BYTES);
            RemoteRegion genuine = pair.attach(region);
            RemoteRegion shifted = ForgedKeys.shifted(genuine, shift);
            for (boolean write : new boolean[] {true, false}) {
                transfer(pair, write, local, shifted).awaitFailure(RemoteAccessException.class);
            }
            transfer(pair, false, local, genuine).awaitSuccess();
            assertUntouched(region);
            assertUntouched(local);
        }
    }

    @Test
    void signalOfAWriteThatIsRefusedIsNotCarriedOut() {
        try (VerbsPair pair = VerbsPair.open(both -> {})) {
            MemoryRegion region = canary(pair);
            MemoryRegion words = pair.served(64);
            MemoryRegion local = pair.local(BYTES);
            RemoteRegion genuine = pair.attach(region);
            RemoteRegion remoteWords = pair.attach(words);
            RemoteRegion forged = ForgedKeys.withBadKey(genuine);
            for (int i = 0; i < 5; i++) {
                pair.writeWithSignal(local, 0, forged, 0, BYTES, remoteWords, 8)
                        .awaitFailure(RemoteAccessException.class);
                pair.writeWithSignal(local, 0, remoteWords, 16, 8, remoteWords, 24)
                        .awaitSuccess();
            }
            Patience.until("the others are counted", () -> words.signal(24).value() == 5);
            assertThat(words.signal(8).value()).isZero();
            assertUntouched(region);
        }
    }

    @Test
    void bothSidesSendBadKeysAtOnce() {
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2))) {
            MemoryRegion region = canary(pair);
            MemoryRegion local = pair.local(BYTES);
            MemoryRegion regionOfInitiator = pair.servedByInitiator(BYTES);
            MemoryRegion localOfTarget = pair.localOfTarget(BYTES);
            RemoteRegion forged = ForgedKeys.withBadKey(pair.attach(region));
            RemoteRegion forgedBack = ForgedKeys.withBadKey(pair.attachBack(regionOfInitiator));
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            for (int round = 0; round < TestDevices.rounds(50); round++) {
                TransferEnd there = transfer(pair, round % 2 == 0, local, forged);
                TransferEnd here = pair.writeBack(localOfTarget, 0, forgedBack, 0, BYTES);
                there.awaitFailure(RemoteAccessException.class);
                here.awaitFailure(RemoteAccessException.class);
            }
            load.awaitProgress(20);
            back.awaitProgress(20);
            load.stopAndCheck();
            back.stopAndCheck();
            assertUntouched(region);
        }
    }
}
