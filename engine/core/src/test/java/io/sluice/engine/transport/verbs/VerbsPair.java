package io.sluice.engine.transport.verbs;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Two engines of this process, connected over verbs. */
final class VerbsPair implements AutoCloseable {
    private final TransferEngine initiator;
    private final TransferEngine target;
    private final Connection connection;
    private final Connection accepted;

    private VerbsPair(TransferEngine initiator, TransferEngine target) {
        this.initiator = initiator;
        this.target = target;
        CompletableFuture<Connection> incoming = new CompletableFuture<>();
        target.onConnection(incoming::complete);
        connection = Patience.await(initiator.connect(target.address()));
        accepted = Patience.await(incoming);
    }

    /** Between the first two devices. */
    static VerbsPair open(Consumer<EngineOptions.Builder> both) {
        return open(VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)), both);
    }

    /** Opens a pair with two rails on each side. */
    static VerbsPair openRails(Consumer<EngineOptions.Builder> both) {
        return open(
                VerbsUnderTest.between(
                        TestDevices.get(0) + "," + TestDevices.get(2), TestDevices.get(1) + "," + TestDevices.get(3)),
                both);
    }

    static VerbsPair open(VerbsUnderTest transport, Consumer<EngineOptions.Builder> both) {
        return open(transport, both, both);
    }

    static VerbsPair open(
            VerbsUnderTest transport,
            Consumer<EngineOptions.Builder> initiatorOptions,
            Consumer<EngineOptions.Builder> targetOptions) {
        TransferEngine initiator =
                TransferEngine.open(transport.options().with(initiatorOptions).build());
        TransferEngine target = null;
        try {
            target = TransferEngine.open(
                    transport.targetOptions().with(targetOptions).build());
            return new VerbsPair(initiator, target);
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

    /** The connection as the initiator sees it. */
    Connection connection() {
        return connection;
    }

    /** The connection as the target sees it. */
    Connection accepted() {
        return accepted;
    }

    MemoryRegion local(long bytes) {
        return initiator.allocate(bytes, RegionOptions.local());
    }

    MemoryRegion served(long bytes) {
        return target.allocate(bytes, RegionOptions.readWrite());
    }

    RemoteRegion attach(MemoryRegion region) {
        return Patience.await(connection.attach(region.descriptor()));
    }

    TransferEnd write(MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        TransferEnd end = new TransferEnd();
        connection.write(local, localOffset, remote, remoteOffset, length, TransferOptions.defaults(), end);
        return end;
    }

    TransferEnd read(MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        TransferEnd end = new TransferEnd();
        connection.read(local, localOffset, remote, remoteOffset, length, TransferOptions.defaults(), end);
        return end;
    }

    /** Adds 1 to a word of a remote region after the write. */
    TransferEnd writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            RemoteRegion words,
            long wordOffset) {
        TransferEnd end = new TransferEnd();
        connection.writeWithSignal(
                local,
                localOffset,
                remote,
                remoteOffset,
                length,
                new RemoteSignal(words, wordOffset).weak(),
                TransferOptions.defaults(),
                end);
        return end;
    }

    /** Memory of the initiator that the target may read and write. */
    MemoryRegion servedByInitiator(long bytes) {
        return initiator.allocate(bytes, RegionOptions.readWrite());
    }

    MemoryRegion localOfTarget(long bytes) {
        return target.allocate(bytes, RegionOptions.local());
    }

    /** Attaches a region of the initiator for the target. */
    RemoteRegion attachBack(MemoryRegion region) {
        return Patience.await(accepted.attach(region.descriptor()));
    }

    /** From the target to the initiator. */
    TransferEnd writeBack(MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        TransferEnd end = new TransferEnd();
        accepted.write(local, localOffset, remote, remoteOffset, length, TransferOptions.defaults(), end);
        return end;
    }

    @Override
    public void close() {
        Patience.await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
    }
}
