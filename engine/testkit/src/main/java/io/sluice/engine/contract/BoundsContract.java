package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Nothing outside a region or slice is read or written, and nothing of a strange region. */
interface BoundsContract extends Contract {
    byte CANARY = (byte) 0x5A;

    /** Ranges that leave 4096 bytes: offset, length. */
    long[][] OUTSIDE = {
        {0, 4097},
        {1, 4096},
        {4096, 1},
        {4097, 0},
        {5000, 0},
        {5000, 8},
        {-1, 8},
        {-8, 8},
        {0, -1},
        {8, -8},
        {4097, -1},
        {Long.MAX_VALUE, 1},
        {1, Long.MAX_VALUE},
        {Long.MAX_VALUE, Long.MAX_VALUE},
        {Long.MAX_VALUE - 7, 8},
        {Long.MIN_VALUE, 8},
        {8, Long.MIN_VALUE},
        {Long.MIN_VALUE, Long.MIN_VALUE},
        {1L << 32, 8},
        {0, 1L << 32}
    };

    @Test
    default void rangesThatLeaveTheRemoteRegion() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(pair.served(4096));
            for (long[] range : OUTSIDE) {
                assertOutside(pair, local, 0, remote, range[0], range[1]);
            }
        }
    }

    @Test
    default void rangesThatLeaveTheLocalRegion() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(pair.served(4096));
            for (long[] range : OUTSIDE) {
                assertOutside(pair, local, range[0], remote, 0, range[1]);
            }
        }
    }

    @Test
    default void rangesThatLeaveALocalSlice() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion slice = pair.local(64 << 10).slice(8192, 4096);
            RemoteRegion remote = pair.attach(pair.served(64 << 10));
            for (long[] range : OUTSIDE) {
                assertOutside(pair, slice, range[0], remote, 0, range[1]);
                assertThatThrownBy(() -> slice.slice(range[0], range[1])).isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @Test
    default void rangesThatLeaveARemoteSliceTouchNoNeighbour() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(64 << 10);
            bytesOf(region).fill(CANARY);
            RemoteRegion slice =
                    await(pair.connection().attach(region.slice(8192, 4096).descriptor()));
            MemoryRegion local = filled(pair.local(64 << 10), 3);
            for (long[] range : OUTSIDE) {
                assertOutside(pair, local, 0, slice, range[0], range[1]);
            }
            pair.write(local, 0, slice, 0, 4096).awaitSuccess();
            pair.write(local, 1, slice, 1, 4095).awaitSuccess();
            pair.write(local, 0, slice, 4096, 0).awaitSuccess();
            BytePattern.assertAll(bytesOf(region).slice(0, 8192), CANARY, "before the slice");
            BytePattern.assertFilled(bytesOf(region).slice(8192, 4096), 3);
            BytePattern.assertAll(bytesOf(region).slice(12288), CANARY, "behind the slice");
        }
    }

    private static void assertOutside(
            EnginePair pair,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length) {
        TerminalSignal never = new TerminalSignal();
        ElementSignals noElements = new ElementSignals(1);
        TransferOptions options = TransferOptions.defaults();
        Connection connection = pair.connection();
        String range = "local %d, remote %d, length %d".formatted(localOffset, remoteOffset, length);
        assertThatThrownBy(() -> connection.write(local, localOffset, remote, remoteOffset, length, options, never))
                .as("write " + range)
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> connection.read(local, localOffset, remote, remoteOffset, length, options, never))
                .as("read " + range)
                .isInstanceOf(IndexOutOfBoundsException.class);
        TransferElement element = new TransferElement(local, localOffset, remote, remoteOffset, length);
        assertThatThrownBy(() -> connection.writeVectored(List.of(element), options, noElements))
                .as("vectored write " + range)
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> connection.readVectored(List.of(element), options, noElements))
                .as("vectored read " + range)
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(never.count()).isZero();
        assertThat(noElements.terminal().count()).isZero();
        assertThat(connection.pending()).isZero();
    }

    @Test
    default void randomWritesToNeighbouringSlicesStayInTheirs() {
        Random random = ContractProfile.random("randomWritesToNeighbouringSlicesStayInTheirs");
        int slices = 16;
        int bytes = 4096 + 13;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served((long) slices * bytes);
            bytesOf(region).fill(CANARY);
            byte[] expected = new byte[slices * bytes];
            Arrays.fill(expected, CANARY);
            MemoryRegion source = filled(pair.local(bytes), 8);
            RemoteRegion[] remotes = new RemoteRegion[slices];
            // Every second slice belongs to another party.
            for (int i = 0; i < slices; i += 2) {
                remotes[i] = await(pair.connection()
                        .attach(region.slice((long) i * bytes, bytes).descriptor()));
            }
            for (int round = 0; round < 500; round++) {
                int slice = 2 * random.nextInt(slices / 2);
                int length = random.nextInt(bytes + 1);
                int from = random.nextInt(bytes - length + 1);
                int to = random.nextInt(bytes - length + 1);
                pair.write(source, from, remotes[slice], to, length).awaitSuccess();
                for (int i = 0; i < length; i++) {
                    expected[slice * bytes + to + i] = BytePattern.at(8, from + i);
                }
            }
            BytePattern.assertSame(bytesOf(region), ContractBytes.of(expected));
        }
    }

    @Test
    default void remoteRegionOfAnotherConnection() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            Connection second = await(pair.initiator().connect(pair.target().address()));
            assertRefused(second, local, remote);
            pair.write(local, 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void localRegionOfAnotherEngine() {
        try (EnginePair pair = EnginePair.open(transport());
                TransferEngine stranger =
                        TransferEngine.open(transport().options().build())) {
            RemoteRegion remote = pair.attach(pair.served(64));
            assertRefused(pair.connection(), allocate(stranger, 64, RegionOptions.local()), remote);
            assertRefused(pair.connection(), pair.served(64), remote);
            assertRefused(pair.connection(), pair.served(64).slice(0, 64), remote);
        }
    }

    private static void assertRefused(Connection connection, MemoryRegion local, RemoteRegion remote) {
        TerminalSignal never = new TerminalSignal();
        ElementSignals noElements = new ElementSignals(1);
        TransferOptions options = TransferOptions.defaults();
        assertThatThrownBy(() -> connection.write(local, 0, remote, 0, 64, options, never))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connection.read(local, 0, remote, 0, 64, options, never))
                .isInstanceOf(IllegalArgumentException.class);
        List<TransferElement> elements = List.of(new TransferElement(local, 0, remote, 0, 64));
        assertThatThrownBy(() -> connection.writeVectored(elements, options, noElements))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connection.readVectored(elements, options, noElements))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(never.count()).isZero();
        assertThat(noElements.terminal().count()).isZero();
    }
}
