package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Atomic operations that are refused: without the right, out of bounds or not aligned, on a closed region or of another domain. */
interface AtomicRefusalContract extends Contract {
    @Test
    default void atomicsNeedBothRights() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            for (Access right : Access.values()) {
                RemoteRegion remote = await(pair.connection().attach(served.descriptor(Set.of(right))));
                assertRefused(pair, remote, 0, RemoteAccessException.class);
            }
            assertThat(served.signal(0).value()).isZero();
            assertThat(pair.fetchAdd(pair.attach(served), 0, 1).awaitPrevious()).isZero();
        }
    }

    @Test
    default void wordsThatLeaveTheRegion() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            RemoteRegion slice =
                    await(pair.connection().attach(served.slice(1024, 1024).descriptor()));
            for (long offset : new long[] {-8, 1024, 1032, 1L << 32, Long.MAX_VALUE - 7, Long.MIN_VALUE}) {
                assertRefused(pair, slice, offset, IndexOutOfBoundsException.class);
            }
            RemoteRegion tiny =
                    await(pair.connection().attach(served.slice(0, 7).descriptor()));
            assertRefused(pair, tiny, 0, IndexOutOfBoundsException.class);
            assertThat(pair.fetchAdd(slice, 1016, 1).awaitPrevious()).isZero();
            assertThat(served.signal(2040).value()).isEqualTo(1);
        }
    }

    @Test
    default void wordsThatAreNotAligned() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            for (long offset : new long[] {1, 2, 4, 7, 12, 55}) {
                assertRefused(pair, remote, offset, IllegalArgumentException.class);
            }
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
        }
    }

    private static void assertRefused(
            EnginePair pair, RemoteRegion remote, long offset, Class<? extends Exception> type) {
        FetchOutcome never = new FetchOutcome();
        TransferOptions options = TransferOptions.defaults();
        Connection connection = pair.connection();
        for (ThrowingCallable submission : List.<ThrowingCallable>of(
                () -> connection.fetchAdd(remote, offset, 1, options, never),
                () -> connection.compareAndSwap(remote, offset, 0, 1, options, never),
                () -> connection.prepared().fetchAdd(remote, offset, 1, options, never),
                () -> connection.prepared().compareAndSwap(remote, offset, 0, 1, options, never))) {
            assertThatThrownBy(submission).as("offset %d", offset).isInstanceOf(type);
        }
        assertThat(never.terminal().count()).isZero();
        assertThat(connection.pending()).isZero();
    }

    @Test
    default void wordOfAnotherConnection() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            Connection second = await(pair.initiator().connect(pair.target().address()));
            RemoteRegion other = await(second.attach(served.descriptor()));
            assertRefused(pair, other, 0, IllegalArgumentException.class);
            assertThat(served.signal(0).value()).isZero();
        }
    }

    @Test
    default void wordsOfTheCallersMemoryThatAreNotAligned() {
        assumeHostMemory();
        try (Arena arena = Arena.ofShared();
                EnginePair pair = EnginePair.open(transport())) {
            MemorySegment memory = arena.allocate(1024, 64).asSlice(4);
            MemoryRegion served = pair.target().register(memory, RegionOptions.readWrite());
            RemoteRegion remote = pair.attach(served);
            for (FetchOutcome refused : List.of(pair.fetchAdd(remote, 16, 1), pair.compareAndSwap(remote, 16, 0, 1))) {
                assertThat(refused.awaitFailure(RemoteAccessException.class).reason())
                        .isEqualTo(Reason.MISALIGNED);
                assertThat(refused.previous()).isZero();
            }
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            await(served.close());
        }
    }

    @Test
    default void regionOfTheAdaptersDomainIsNotForAtomicsByMessage() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served =
                    allocate(pair.target(), 64, RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER));
            RemoteRegion remote = pair.attach(served);
            RemoteRegion slice =
                    await(pair.connection().attach(served.slice(8, 32).descriptor()));
            List<FetchOutcome> outcomes = List.of(
                    pair.fetchAdd(remote, 0, 1), pair.compareAndSwap(remote, 16, 0, 1), pair.fetchAdd(slice, 16, 1));
            if (transport().offersAdapterAtomics()) {
                outcomes.forEach(outcome -> assertThat(outcome.awaitPrevious()).isZero());
                await(pair.connection().quiet());
                for (int offset : new int[] {0, 16, 24}) {
                    assertThat(served.signal(offset).value())
                            .as("word at %d", offset)
                            .isOne();
                }
                return;
            }
            for (FetchOutcome refused : outcomes) {
                assertThat(refused.awaitFailure(RemoteAccessException.class).reason())
                        .isEqualTo(Reason.ATOMIC_DOMAIN);
                assertThat(refused.previous()).isZero();
            }
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            pair.put(remote, 0, 5, 1).awaitSuccess();
        }
    }

    @Test
    default void closedRegionRefusesAtomics() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            await(served.close());
            for (FetchOutcome refused : List.of(pair.fetchAdd(remote, 0, 1), pair.compareAndSwap(remote, 0, 0, 1))) {
                assertThat(refused.awaitFailure(RemoteAccessException.class).reason())
                        .isEqualTo(Reason.UNKNOWN_REGION);
            }
        }
    }
}
