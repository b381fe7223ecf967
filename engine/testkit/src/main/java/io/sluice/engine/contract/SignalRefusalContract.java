package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Signals that are refused, and writes that fail without their signal. */
interface SignalRefusalContract extends Contract {
    int MOST_BYTES = (5 << 20) + 3;

    @ParameterizedTest
    @EnumSource(SignalOrder.class)
    default void refusedWriteLeavesItsSignalAlone(SignalOrder order) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion source = pair.local(MOST_BYTES);
            MemoryRegion closing = pair.served(MOST_BYTES);
            MemoryRegion counters = pair.served(64);
            RemoteRegion gone = pair.attach(closing);
            SignalUpdate update = new SignalUpdate(new RemoteSignal(pair.attach(counters), 0), 1, order);
            await(closing.close());
            for (long size : new long[] {8, MOST_BYTES}) {
                RemoteAccessException error = pair.writeWithSignal(source, 0, gone, 0, size, update)
                        .awaitFailure(RemoteAccessException.class);
                assertThat(error.reason()).isEqualTo(Reason.UNKNOWN_REGION);
                assertLeftAlone(pair, counters.signal(0));
            }
            MemoryRegion closed = pair.local(64);
            await(closed.close());
            pair.writeWithSignal(closed, 0, pair.attach(pair.served(64)), 0, 64, update)
                    .awaitFailure(RegionClosedException.class);
            assertLeftAlone(pair, counters.signal(0));
        }
    }

    private static void assertLeftAlone(EnginePair pair, Signal signal) {
        await(pair.connection().quiesced());
        await(pair.connection().quiet());
        Patience.pause(Duration.ofMillis(20));
        assertThat(signal.value()).as("the signal of a write that failed").isZero();
    }

    @Test
    default void writeThatIsRefusedInTheMiddleLeavesItsSignalAlone() {
        long bytes = 24 << 20;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion source = pair.local(bytes);
            bytesOf(source).fill((byte) 1);
            int refused = 0;
            // now and then all is written before the close
            for (int round = 0; round < 6 || (refused == 0 && round < 50); round++) {
                MemoryRegion closing = pair.served(bytes);
                MemoryRegion counters = pair.served(64);
                RemoteRegion remote = pair.attach(closing);
                SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).weak();
                ContractBytes first = bytesOf(closing).slice(0, 1);
                TerminalSignal written = pair.writeWithSignal(source, 0, remote, 0, bytes, update);
                until("it flows", () -> first.byteAt(0) == 1);
                await(closing.close());
                if (written.await().isPresent()) {
                    refused++;
                    written.awaitFailure(RemoteAccessException.class);
                    assertLeftAlone(pair, counters.signal(0));
                } else {
                    assertThat(counters.signal(0).value()).isEqualTo(1);
                }
            }
            assertThat(refused).as("closes that came in time").isPositive();
        }
    }

    @Test
    default void writeThatWasNeverPostedLeavesItsSignalAlone() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(remote, 0).weak();
            TransferOptions never = TransferOptions.defaults().startAfter(listener -> {});
            TerminalSignal cancelled = new TerminalSignal();
            Transfer transfer = pair.connection().writeWithSignal(source, 0, remote, 8, 8, update, never, cancelled);
            transfer.cancel();
            cancelled.awaitFailure(TransferCancelledException.class);
            pair.signal(update, never.withDeadline(Duration.ofMillis(50))).awaitFailure(TransferTimeoutException.class);
            assertLeftAlone(pair, served.signal(0));
        }
    }

    @Test
    default void signalThatIsRefusedFailsItsWrite() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion closing = pair.served(64);
            SignalUpdate update = new RemoteSignal(pair.attach(closing), 0).weak();
            RemoteRegion remote = pair.attach(pair.served(64));
            await(closing.close());
            for (int size : new int[] {0, 64}) {
                assertThat(pair.writeWithSignal(source, 0, remote, 0, size, update)
                                .awaitFailure(RemoteAccessException.class)
                                .reason())
                        .isEqualTo(Reason.UNKNOWN_REGION);
            }
            assertThat(pair.signal(update)
                            .awaitFailure(RemoteAccessException.class)
                            .reason())
                    .isEqualTo(Reason.UNKNOWN_REGION);
            pair.write(source, 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void placesWhereNoSignalCanBe() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            RemoteRegion remote = pair.attach(served);
            RemoteRegion shifted =
                    await(pair.connection().attach(served.slice(4, 1024).descriptor()));
            for (long offset : new long[] {1, 4, 7, 12, 4087}) {
                assertThatThrownBy(() -> new RemoteSignal(remote, offset)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> served.signal(offset)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> new RemoteSignal(shifted, 8)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> served.slice(4, 1024).signal(8)).isInstanceOf(IllegalArgumentException.class);
            for (long offset : new long[] {-8, 4096, 1L << 40, Long.MAX_VALUE - 7, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> new RemoteSignal(remote, offset))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> served.signal(offset)).isInstanceOf(IndexOutOfBoundsException.class);
            }
            // An offset in a slice is valid if both add up to a multiple of 8.
            pair.signal(new RemoteSignal(shifted, 4).weak()).awaitSuccess();
            assertThat(served.signal(8).value()).isEqualTo(1);
            assertThat(served.slice(4, 1024).signal(4).value()).isEqualTo(1);
        }
    }

    @Test
    default void memoryOfTheCallerThatIsNotAligned() {
        assumeHostMemory();
        try (Arena arena = Arena.ofShared();
                EnginePair pair = EnginePair.open(transport())) {
            MemorySegment memory = arena.allocate(1024, 64).asSlice(4);
            MemoryRegion served = pair.target().register(memory, RegionOptions.readWrite());
            RemoteRegion remote = pair.attach(served);
            MemoryRegion source = pair.local(64);
            SignalUpdate update = new RemoteSignal(remote, 16).weak();
            assertThat(pair.signal(update)
                            .awaitFailure(RemoteAccessException.class)
                            .reason())
                    .isEqualTo(Reason.MISALIGNED);
            assertThat(pair.writeWithSignal(source, 0, remote, 64, 64, update)
                            .awaitFailure(RemoteAccessException.class)
                            .reason())
                    .isEqualTo(Reason.MISALIGNED);
            assertThatThrownBy(() -> served.signal(16)).isInstanceOf(IllegalArgumentException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            pair.write(source, 0, remote, 1, 64).awaitSuccess();
            await(served.close());
        }
    }

    @Test
    default void signalWithoutTheRightToWrite() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion writable = pair.attach(served);
            RemoteRegion readable = await(pair.connection().attach(served.descriptor(Set.of(Access.REMOTE_READ))));
            RemoteSignal counter = new RemoteSignal(readable, 0);
            TerminalSignal never = new TerminalSignal();
            TransferOptions options = TransferOptions.defaults();
            for (SignalUpdate update : List.of(counter.weak(), counter.strong())) {
                assertDenied(() -> pair.connection().signal(update, options, never));
                assertDenied(
                        () -> pair.connection().writeWithSignal(source, 0, writable, 8, 8, update, options, never));
                assertDenied(() -> pair.connection().prepared().signal(update, options, never));
            }
            SignalUpdate fine = new RemoteSignal(writable, 0).weak();
            assertDenied(() -> pair.connection().writeWithSignal(source, 0, readable, 8, 8, fine, options, never));
            // The right to write suffices.
            RemoteRegion writeOnly = await(pair.connection().attach(served.descriptor(Set.of(Access.REMOTE_WRITE))));
            pair.signal(new RemoteSignal(writeOnly, 0).weak()).awaitSuccess();
            assertThat(served.signal(0).value()).isEqualTo(1);
            BytePattern.assertAll(bytesOf(served).slice(8), (byte) 0, "behind the counter");
            assertThat(never.count()).isZero();
        }
    }

    private static void assertDenied(ThrowingCallable submission) {
        assertThatThrownBy(submission)
                .isInstanceOfSatisfying(
                        RemoteAccessException.class,
                        error -> assertThat(error.reason()).isEqualTo(Reason.ACCESS_DENIED));
    }

    @Test
    default void signalOfAnotherConnection() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            Connection second = await(pair.initiator().connect(pair.target().address()));
            RemoteRegion other = await(second.attach(served.descriptor()));
            SignalUpdate strange = new RemoteSignal(other, 0).weak();
            TerminalSignal never = new TerminalSignal();
            TransferOptions options = TransferOptions.defaults();
            assertThatThrownBy(() -> pair.connection().signal(strange, options, never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(
                            () -> pair.connection().writeWithSignal(source, 0, remote, 8, 8, strange, options, never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(never.count()).isZero();
            assertThat(served.signal(0).value()).isZero();
        }
    }

    @Test
    default void regionOfTheAdaptersDomainIsNotForSignalsByMessage() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served =
                    allocate(pair.target(), 64, RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER));
            assertThat(served.atomicDomain()).isEqualTo(AtomicDomain.NETWORK_ADAPTER);
            RemoteRegion remote = pair.attach(served);
            RemoteRegion elsewhere = pair.attach(pair.served(64));
            RemoteSignal counter = new RemoteSignal(remote, 0);
            List<TerminalSignal> ends = List.of(
                    pair.signal(counter.weak()),
                    pair.signal(counter.strong()),
                    pair.writeWithSignal(source, 0, elsewhere, 8, 8, counter.weak()),
                    pair.writeWithSignal(source, 0, elsewhere, 8, 0, counter.strong()));
            Signal view = served.signal(0);
            long count = 0;
            if (transport().offersAdapterAtomics()) {
                TerminalSignal.awaitAllSuccess(ends);
                count = ends.size();
                await(view.awaitAtLeast(count));
            } else {
                for (TerminalSignal each : ends) {
                    assertThat(each.awaitFailure(RemoteAccessException.class).reason())
                            .isEqualTo(Reason.ATOMIC_DOMAIN);
                }
            }
            assertThat(view.value()).isEqualTo(count);
            assertThatThrownBy(() -> view.add(1)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> view.set(1)).isInstanceOf(IllegalStateException.class);
            assertThat(view.value()).isEqualTo(count);
            pair.write(source, 0, remote, 0, 64).awaitSuccess();
        }
    }
}
