package io.sluice.engine.transport.tcp;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.testkit.Patience;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A transfer of the engine's that a raw peer owes an answer to. */
final class OwedTransfer {
    private static final long HANDLE = 77;

    private final Connection connection;
    private final MemoryRegion local;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private OwedTransfer(Connection connection, MemoryRegion local) {
        this.connection = connection;
        this.local = local;
    }

    static OwedTransfer read(TransferEngine engine, RawPeer from, long bytes) {
        OwedTransfer owed = with(engine, from, bytes);
        RemoteRegion remote = owed.attached(from, bytes);
        owed.connection.read(
                owed.local,
                0,
                remote,
                0,
                bytes,
                TransferOptions.defaults(),
                (transfer, error) -> GuardedTarget.end(owed.end, error));
        return owed;
    }

    static OwedTransfer write(TransferEngine engine, RawPeer to, long bytes) {
        OwedTransfer owed = with(engine, to, bytes);
        RemoteRegion remote = owed.attached(to, bytes);
        owed.connection.write(
                owed.local,
                0,
                remote,
                0,
                bytes,
                TransferOptions.defaults(),
                (transfer, error) -> GuardedTarget.end(owed.end, error));
        return owed;
    }

    static OwedTransfer writePages(TransferEngine engine, RawPeer to, int pageBytes, int[] from, int[] into) {
        long bytes = 100L * pageBytes;
        OwedTransfer owed = with(engine, to, bytes);
        RemoteRegion remote = owed.attached(to, bytes);
        owed.connection.writePages(
                owed.local,
                from,
                remote,
                into,
                pageBytes,
                TransferOptions.defaults(),
                (transfer, failed, error) -> GuardedTarget.end(owed.end, error));
        return owed;
    }

    void awaitSuccess() {
        Patience.await(end);
    }

    private static OwedTransfer with(TransferEngine engine, RawPeer peer, long bytes) {
        return new OwedTransfer(peer.in(engine), engine.allocate(bytes, RegionOptions.local()));
    }

    private RemoteRegion attached(RawPeer peer, long bytes) {
        CompletableFuture<RemoteRegion> attached = connection.attach(new RegionDescriptor(
                peer.id(),
                peer.epoch(),
                1,
                2,
                MemoryKind.HOST,
                Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE),
                0,
                bytes));
        peer.grantAttach(HANDLE);
        return Patience.await(attached);
    }

    Connection connection() {
        return connection;
    }

    MemoryRegion local() {
        return local;
    }

    CompletableFuture<Void> end() {
        return end;
    }
}
