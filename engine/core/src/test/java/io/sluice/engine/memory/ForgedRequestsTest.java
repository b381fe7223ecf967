package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A peer that does not keep to the rules: it asks for what it was not given. On tcp the target checks every frame, so nothing
 * outside the attached slice is read or written by any request of the peer.
 */
class ForgedRequestsTest {
    private static final int REGION_BYTES = 64 << 10;
    private static final int SLICE_AT = 16 << 10;
    private static final int SLICE_BYTES = 4096;
    private static final byte CANARY = 0x5A;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).build();

    private TransferEngine target;
    private TransferEngine initiator;
    private Connection connection;
    private MemoryRegion region;
    private MemoryRegion neighbour;
    private MemoryRegion local;

    @BeforeEach
    void open() throws Exception {
        target = TransferEngine.open(OPTIONS);
        initiator = TransferEngine.open(OPTIONS);
        connection = get(initiator.connect(target.address()));
        region = target.allocate(REGION_BYTES, RegionOptions.readWrite());
        neighbour = target.allocate(REGION_BYTES, RegionOptions.readWrite());
        region.segment().fill(CANARY);
        neighbour.segment().fill(CANARY);
        local = initiator.allocate(1 << 20, RegionOptions.local());
    }

    @AfterEach
    void close() throws Exception {
        get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
    }

    private static <T> T get(CompletableFuture<T> future) {
        return Patience.await(future);
    }

    private AttachedRegion attach(Set<Access> rights) throws Exception {
        return (AttachedRegion)
                get(connection.attach(region.slice(SLICE_AT, SLICE_BYTES).descriptor(rights)));
    }

    /** The attached region, but with a forged length and all rights. */
    private static AttachedRegion widened(AttachedRegion genuine, RemoteKey key) {
        RegionDescriptor descriptor = genuine.descriptor();
        return ForgedRegions.forged(
                genuine.connection(),
                genuine,
                new RegionDescriptor(
                        descriptor.engineId(),
                        descriptor.epoch(),
                        descriptor.regionId(),
                        descriptor.key(),
                        descriptor.kind(),
                        Set.of(Access.values()),
                        0,
                        Long.MAX_VALUE),
                key);
    }

    private Optional<SluiceException> transfer(boolean write, AttachedRegion remote, long offset, long length)
            throws Exception {
        CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
        if (write) {
            connection.write(local, 0, remote, offset, length, TransferOptions.defaults(), (transfer, error) -> {
                end.complete(Optional.ofNullable(error));
            });
        } else {
            connection.read(local, 0, remote, offset, length, TransferOptions.defaults(), (transfer, error) -> {
                end.complete(Optional.ofNullable(error));
            });
        }
        return get(end);
    }

    private void assertRefused(boolean write, AttachedRegion remote, long offset, long length, Reason reason)
            throws Exception {
        local.segment().fill((byte) (write ? 1 : 0));
        assertThat(transfer(write, remote, offset, length))
                .as("offset %d, length %d", offset, length)
                .containsInstanceOf(RemoteAccessException.class)
                .hasValueSatisfying(error ->
                        assertThat(((RemoteAccessException) error).reason()).isEqualTo(reason));
        assertUntouched(region);
        assertUntouched(neighbour);
        if (!write) {
            for (long at = 0; at < local.length(); at += 8) {
                assertThat(local.segment().get(ValueLayout.JAVA_LONG, at)).isZero();
            }
        }
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }

    private static void assertUntouched(MemoryRegion region) {
        for (long at = 0; at < region.length(); at += 8) {
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, at)).isEqualTo(0x5A5A_5A5A_5A5A_5A5AL);
        }
    }

    @Test
    void rangesBeyondTheSlice() throws Exception {
        AttachedRegion genuine = attach(Set.of(Access.values()));
        AttachedRegion wide = widened(genuine, genuine.key());
        long[][] ranges = {
            {0, SLICE_BYTES + 1},
            {1, SLICE_BYTES},
            {SLICE_BYTES, 1},
            {SLICE_BYTES, SLICE_BYTES},
            {SLICE_BYTES + 1, 0},
            {REGION_BYTES, 8},
            {1L << 32, 8},
            {Long.MAX_VALUE - 8, 8},
            {0, 1 << 20}
        };
        for (boolean write : new boolean[] {true, false}) {
            for (long[] range : ranges) {
                assertRefused(write, wide, range[0], range[1], Reason.OUT_OF_BOUNDS);
            }
        }
        assertThat(transfer(true, wide, 0, SLICE_BYTES)).isEmpty();
    }

    @Test
    void rightsThatWereNotGiven() throws Exception {
        AttachedRegion readable = attach(Set.of(Access.REMOTE_READ));
        AttachedRegion writable = attach(Set.of(Access.REMOTE_WRITE));
        assertRefused(true, widened(readable, readable.key()), 0, 64, Reason.ACCESS_DENIED);
        assertRefused(true, widened(readable, readable.key()), 0, 0, Reason.ACCESS_DENIED);
        assertRefused(false, widened(writable, writable.key()), 0, 64, Reason.ACCESS_DENIED);
        assertThat(transfer(false, readable, 0, 64)).isEmpty();
        assertThat(transfer(true, writable, 0, 64)).isEmpty();
    }

    @Test
    void keysAndEpochsThatAreNotThose() throws Exception {
        AttachedRegion genuine = attach(Set.of(Access.values()));
        RemoteKey key = genuine.key();
        for (boolean write : new boolean[] {true, false}) {
            assertRefused(
                    write,
                    widened(genuine, new RemoteKey(key.handle(), key.key() ^ 1, key.epoch())),
                    0,
                    64,
                    Reason.BAD_KEY);
            assertRefused(
                    write,
                    widened(genuine, new RemoteKey(key.handle(), key.key(), key.epoch() + 1)),
                    0,
                    64,
                    Reason.STALE_EPOCH);
        }
        assertThat(transfer(true, genuine, 0, 64)).isEmpty();
    }

    @Test
    void handlesThatWereNeverGiven() throws Exception {
        AttachedRegion genuine = attach(Set.of(Access.values()));
        RemoteKey key = genuine.key();
        for (long handle : new long[] {
            key.handle() + 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32, key.handle() | (1L << 33), 0x7FFF_FFFFL
        }) {
            for (boolean write : new boolean[] {true, false}) {
                assertRefused(
                        write,
                        widened(genuine, new RemoteKey(handle, key.key(), key.epoch())),
                        0,
                        64,
                        Reason.UNKNOWN_REGION);
            }
        }
    }

    @Test
    void handleOfAnotherRegionNeedsItsKey() throws Exception {
        AttachedRegion genuine = attach(Set.of(Access.values()));
        AttachedRegion other = (AttachedRegion) get(connection.attach(neighbour.descriptor()));
        RemoteKey crossed = new RemoteKey(
                other.key().handle(), genuine.key().key(), genuine.key().epoch());
        assertRefused(true, widened(genuine, crossed), 0, 64, Reason.BAD_KEY);
        assertRefused(false, widened(genuine, crossed), 0, 64, Reason.BAD_KEY);
    }

    @Test
    void handleOfADetachedRegionIsDeadForEver() throws Exception {
        AttachedRegion old = attach(Set.of(Access.values()));
        get(connection.detach(old));
        // These take its place in the target's table.
        for (int i = 0; i < 100; i++) {
            attach(Set.of(Access.values()));
        }
        assertRefused(true, old, 0, 64, Reason.UNKNOWN_REGION);
        assertRefused(false, old, 0, 64, Reason.UNKNOWN_REGION);
    }

    @Test
    void handleOfAnotherConnection() throws Exception {
        Connection second = get(initiator.connect(target.address()));
        AttachedRegion theirs = (AttachedRegion)
                get(second.attach(region.slice(SLICE_AT, SLICE_BYTES).descriptor()));
        AttachedRegion stolen = ForgedRegions.forged(connection, theirs, theirs.descriptor(), theirs.key());
        assertRefused(true, stolen, 0, 64, Reason.UNKNOWN_REGION);
    }

    @Test
    void randomRequestsReachNothingButTheSlice() throws Exception {
        Random random = new Random(20_240_229L);
        AttachedRegion genuine = attach(Set.of(Access.values()));
        local.segment().fill((byte) 1);
        for (int i = 0; i < 3_000; i++) {
            RemoteKey key = genuine.key();
            if (random.nextInt(4) == 0) {
                key = new RemoteKey(random.nextInt(8), key.key(), key.epoch());
            }
            if (random.nextInt(4) == 0) {
                key = new RemoteKey(key.handle(), random.nextLong(), key.epoch());
            }
            long offset = random.nextBoolean() ? random.nextInt(2 * REGION_BYTES) : random.nextLong() >>> 2;
            transfer(random.nextBoolean(), widened(genuine, key), offset, random.nextInt(256 << 10));
            local.segment().fill((byte) 1);
        }
        for (long at = 0; at < REGION_BYTES; at++) {
            if (at < SLICE_AT || at >= SLICE_AT + SLICE_BYTES) {
                assertThat(region.segment().get(ValueLayout.JAVA_BYTE, at)).isEqualTo(CANARY);
            }
        }
        assertUntouched(neighbour);
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        Patience.until("the target counts them", () -> EngineSums.ofTransports(target, TransportMetrics::refused) > 0);
    }
}
