package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Two engines of this process and a connection between them. */
final class EnginePair implements AutoCloseable {
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();

    private final TransportUnderTest transport;
    private final TransferEngine initiator;
    private final TransferEngine target;
    private final Connection connection;
    private final Connection accepted;

    private EnginePair(
            TransportUnderTest transport,
            TransferEngine initiator,
            TransferEngine target,
            Connection connection,
            Connection accepted) {
        this.transport = transport;
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
            target = TransferEngine.open(
                    transport.targetOptions().with(targetOptions).build());
            CompletableFuture<Connection> accepted = new CompletableFuture<>();
            target.onConnection(accepted::complete);
            Connection connection = await(initiator.connect(target.address()));
            return new EnginePair(transport, initiator, target, connection, await(accepted));
        } catch (RuntimeException | Error e) {
            initiator.closeAsync();
            if (target != null) {
                target.closeAsync();
            }
            throw e;
        }
    }

    /** An engine that is connected to itself, and so is both. */
    static EnginePair toItself(TransportUnderTest transport, Consumer<EngineOptions.Builder> options) {
        TransferEngine engine =
                TransferEngine.open(transport.options().with(options).build());
        try {
            CompletableFuture<Connection> accepted = new CompletableFuture<>();
            engine.onConnection(accepted::complete);
            Connection connection = await(engine.connect(engine.address()));
            return new EnginePair(transport, engine, engine, connection, await(accepted));
        } catch (RuntimeException | Error e) {
            engine.closeAsync();
            throw e;
        }
    }

    /** No transfer is pending, and all credits are back. */
    void assertNothingIsHeld() {
        until("nothing is pending", () -> connection.pending() == 0);
        assertThat(connection.window().operations()).isZero();
        assertThat(connection.window().bytes()).isZero();
    }

    TransferEngine initiator() {
        return initiator;
    }

    TransferEngine target() {
        return target;
    }

    /** The connection as the initiator sees it. */
    Connection connection() {
        return connection;
    }

    /** The connection as the target sees it. */
    Connection accepted() {
        return accepted;
    }

    /** Memory of the initiator that no peer reaches. */
    MemoryRegion local(long bytes) {
        return transport.memory().region(initiator, bytes, RegionOptions.local());
    }

    /** Memory of the target that peers may read and write. */
    MemoryRegion served(long bytes) {
        return transport.memory().region(target, bytes, RegionOptions.readWrite());
    }

    /** Words of the target that its own processors' threads change, on every transport. */
    MemoryRegion servedByTheTarget(long bytes) {
        return target.register(Arena.ofAuto().allocate(bytes, Long.BYTES), RegionOptions.readWrite());
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

    TerminalSignal writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate update) {
        return writeWithSignal(local, localOffset, remote, remoteOffset, length, update, NO_DEADLINE);
    }

    TerminalSignal writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate update,
            TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        connection.writeWithSignal(local, localOffset, remote, remoteOffset, length, update, options, signal);
        return signal;
    }

    TerminalSignal signal(SignalUpdate update) {
        return signal(update, NO_DEADLINE);
    }

    TerminalSignal signal(SignalUpdate update, TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        connection.signal(update, options, signal);
        return signal;
    }

    TerminalSignal put(RemoteRegion remote, long remoteOffset, long value, int bytes) {
        return put(remote, remoteOffset, value, bytes, NO_DEADLINE);
    }

    TerminalSignal put(RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        connection.put(remote, remoteOffset, value, bytes, options, signal);
        return signal;
    }

    FetchOutcome fetchAdd(RemoteRegion remote, long remoteOffset, long addend) {
        return fetchAdd(remote, remoteOffset, addend, NO_DEADLINE);
    }

    FetchOutcome fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        FetchOutcome outcome = new FetchOutcome();
        connection.fetchAdd(remote, remoteOffset, addend, options, outcome);
        return outcome;
    }

    FetchOutcome compareAndSwap(RemoteRegion remote, long remoteOffset, long expected, long replacement) {
        FetchOutcome outcome = new FetchOutcome();
        connection.compareAndSwap(remote, remoteOffset, expected, replacement, NO_DEADLINE, outcome);
        return outcome;
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
