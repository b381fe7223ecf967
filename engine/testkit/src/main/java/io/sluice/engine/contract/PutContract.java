package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A few bytes that need no local region. */
interface PutContract extends Contract {
    byte UNTOUCHED = (byte) 0x5A;
    long[] VALUES = {0, 1, -1, 0x0102030405060708L, 0xFFEEDDCCBBAA9988L, Long.MIN_VALUE, Long.MAX_VALUE};

    @ParameterizedTest
    @EnumSource
    default void lowOrderBytesAreWrittenAndNoNeighbour(Ends ends) {
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            for (int bytes = 1; bytes <= 8; bytes++) {
                for (long value : VALUES) {
                    // At every alignment, the first and the last place included.
                    for (long offset : new long[] {0, 1, 3, 8, 13, 17, 64 - bytes}) {
                        bytesOf(served).fill(UNTOUCHED);
                        pair.put(remote, offset, value, bytes).awaitSuccess();
                        assertPut(bytesOf(served).contents(), offset, value, bytes);
                    }
                }
            }
        }
    }

    private static void assertPut(MemorySegment target, long offset, long value, int bytes) {
        for (long at = 0; at < target.byteSize(); at++) {
            long place = at - offset;
            byte expected = place >= 0 && place < bytes ? (byte) (value >>> (8 * place)) : UNTOUCHED;
            byte actual = target.get(ValueLayout.JAVA_BYTE, at);
            if (actual != expected) {
                assertThat(actual)
                        .as("byte %d after %d bytes of %x were put at %d", at, bytes, value, offset)
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void veryManyPuts(Ends ends) {
        int count = ContractProfile.of(transport()).smallTransfers() / 5;
        try (EnginePair pair = ends.open(transport(), both -> both.lanes(2))) {
            MemoryRegion served = pair.served(8L * count);
            bytesOf(served).fill(UNTOUCHED);
            RemoteRegion remote = pair.attach(served);
            ManyTransfers crowd = new ManyTransfers();
            for (int i = 0; i < count; i++) {
                pair.connection().put(remote, 8L * i, value(i), 1 + i % 8, TransferOptions.defaults(), crowd.one());
            }
            crowd.awaitAllSuccess();
            await(pair.connection().quiet());
            for (int i = 0; i < count; i++) {
                MemorySegment word = bytesOf(served).slice(8L * i, 8).contents();
                for (int place = 0; place < 8; place++) {
                    byte expected = place <= i % 8 ? (byte) (value(i) >>> (8 * place)) : UNTOUCHED;
                    byte actual = word.get(ValueLayout.JAVA_BYTE, place);
                    if (actual != expected) {
                        assertThat(actual).as("byte %d of put %d", place, i).isEqualTo(expected);
                    }
                }
            }
        }
    }

    private static long value(int number) {
        return number * 0x9E3779B97F4A7C15L;
    }

    @Test
    default void putIntoASlice() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            RemoteRegion slice =
                    await(pair.connection().attach(served.slice(1001, 9).descriptor()));
            pair.put(slice, 1, 0x0807060504030201L, 8).awaitSuccess();
            BytePattern.assertAll(bytesOf(served).slice(0, 1002), (byte) 0, "before it");
            for (int i = 0; i < 8; i++) {
                assertThat(bytesOf(served).byteAt(1002 + i)).isEqualTo((byte) (1 + i));
            }
            BytePattern.assertAll(bytesOf(served).slice(1010), (byte) 0, "behind it");
        }
    }

    @Test
    default void putsThatAreRefusedAtOnce() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            for (int bytes : new int[] {0, -1, 9, 64, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                assertRefused(pair, remote, 0, bytes, IllegalArgumentException.class);
            }
            for (long offset : new long[] {-1, -8, 57, 63, 64, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE}) {
                assertRefused(pair, remote, offset, 8, IndexOutOfBoundsException.class);
            }
            assertRefused(pair, remote, 64, 1, IndexOutOfBoundsException.class);
            assertRefused(
                    pair,
                    await(pair.connection().attach(served.descriptor(Set.of(Access.REMOTE_READ)))),
                    0,
                    8,
                    RemoteAccessException.class);
            Connection second = await(pair.initiator().connect(pair.target().address()));
            assertRefused(pair, await(second.attach(served.descriptor())), 0, 8, IllegalArgumentException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
        }
    }

    private static void assertRefused(
            EnginePair pair, RemoteRegion remote, long offset, int bytes, Class<? extends Exception> type) {
        TerminalSignal never = new TerminalSignal();
        TransferOptions options = TransferOptions.defaults();
        for (ThrowingCallable submission : List.<ThrowingCallable>of(
                () -> pair.connection().put(remote, offset, 1, bytes, options, never),
                () -> pair.connection().prepared().put(remote, offset, 1, bytes, options, never))) {
            assertThatThrownBy(submission).as("%d bytes at %d", bytes, offset).isInstanceOf(type);
        }
        assertThat(never.count()).isZero();
        assertThat(pair.connection().pending()).isZero();
    }

    @Test
    default void putIntoAClosedRegion() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            await(served.close());
            assertThat(pair.put(remote, 0, 1, 8)
                            .awaitFailure(RemoteAccessException.class)
                            .reason())
                    .isEqualTo(Reason.UNKNOWN_REGION);
        }
    }

    @Test
    default void putNeedsOnlyTheRightToWrite() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = await(pair.connection().attach(served.descriptor(Set.of(Access.REMOTE_WRITE))));
            pair.put(remote, 0, 77, 1).awaitSuccess();
            assertThat(bytesOf(served).byteAt(0)).isEqualTo((byte) 77);
        }
    }
}
