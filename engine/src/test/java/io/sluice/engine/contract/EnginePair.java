package io.sluice.engine.contract;

import static io.sluice.engine.contract.BoundedWait.await;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Two engines of this process and a connection between them. */
final class EnginePair implements AutoCloseable {
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();

    private final TransferEngine initiator;
    private final TransferEngine target;
    private final Connection connection;
    private final Connection accepted;

    private EnginePair(TransferEngine initiator, TransferEngine target, Connection connection, Connection accepted) {
        this.initiator = initiator;
        this.target = target;
        this.connection = connection;
        this.accepted = accepted;
    }

    static EnginePair open(TransportUnderTest transport) {
        return open(transport, both -> {});
    }

    static EnginePair open(TransportUnderTest transport, Consumer<EngineOptions.Builder> both) {
        return open(transport, both, both);
    }

    static EnginePair open(
            TransportUnderTest transport,
            Consumer<EngineOptions.Builder> initiatorOptions,
            Consumer<EngineOptions.Builder> targetOptions) {
        TransferEngine initiator =
                TransferEngine.open(transport.options().with(initiatorOptions).build());
        TransferEngine target = null;
        try {
            target = TransferEngine.open(transport.options().with(targetOptions).build());
            CompletableFuture<Connection> accepted = new CompletableFuture<>();
            target.onConnection(accepted::complete);
            Connection connection = await(initiator.connect(target.address()));
            return new EnginePair(initiator, target, connection, await(accepted));
        } catch (RuntimeException | Error e) {
            initiator.closeAsync();
            if (target != null) {
                target.closeAsync();
            }
            throw e;
        }
    }

    TransferEngine initiator() {
        return initiator;
    }

    TransferEngine target() {
        return target;
    }

    /** As the initiator sees it. */
    Connection connection() {
        return connection;
    }

    /** The same connection as the target sees it. */
    Connection accepted() {
        return accepted;
    }

    /** Memory of the initiator that no peer reaches. */
    MemoryRegion local(long bytes) {
        return initiator.allocate(bytes, RegionOptions.local());
    }

    /** Memory of the target that peers may read and write. */
    MemoryRegion served(long bytes) {
        return target.allocate(bytes, RegionOptions.readWrite());
    }

    RemoteRegion attach(MemoryRegion region) {
        return await(connection.attach(region.descriptor()));
    }

    TerminalSignal write(MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return write(local, localOffset, remote, remoteOffset, length, NO_DEADLINE);
    }

    TerminalSignal write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        connection.write(local, localOffset, remote, remoteOffset, length, options, signal);
        return signal;
    }

    TerminalSignal read(MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        TerminalSignal signal = new TerminalSignal();
        connection.read(local, localOffset, remote, remoteOffset, length, NO_DEADLINE, signal);
        return signal;
    }

    TerminalSignal notify(byte[] payload) {
        return notify(payload, NO_DEADLINE);
    }

    TerminalSignal notify(byte[] payload, TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        connection.notify(payload, options, signal);
        return signal;
    }

    @Override
    public void close() {
        await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
    }
}
