package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An engine with connections to several peers: one to itself, two to a first other engine, and one to each of the rest. Each
 * connection has a region of its peer.
 */
final class SeveralPeers implements AutoCloseable {
    private final ContractMemory memory;
    private final TransferEngine initiator;
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private final List<CompletableFuture<Connection>> accepted = new ArrayList<>();
    private final List<MemoryRegion> served = new ArrayList<>();
    private final List<RemoteRegion> remotes = new ArrayList<>();

    SeveralPeers(TransportUnderTest transport, int others, long bytes, Consumer<EngineOptions.Builder> options) {
        memory = transport.memory();
        initiator = TransferEngine.open(transport.options().with(options).build());
        engines.add(initiator);
        try {
            connect(initiator, bytes);
            for (int i = 0; i < others; i++) {
                TransferEngine target =
                        TransferEngine.open(transport.targetOptions().build());
                engines.add(target);
                connect(target, bytes);
                if (i == 0) {
                    connect(target, bytes);
                }
            }
        } catch (RuntimeException | Error e) {
            engines.forEach(TransferEngine::closeAsync);
            throw e;
        }
    }

    private void connect(TransferEngine target, long bytes) {
        CompletableFuture<Connection> other = new CompletableFuture<>();
        Connection known = accepted.isEmpty() ? null : accepted.getLast().getNow(null);
        TransferEngine.ListenerHandle registration = target.onConnection(connection -> {
            if (connection != known) {
                other.complete(connection);
            }
        });
        Connection connection = await(initiator.connect(target.address()));
        await(other);
        registration.close();
        MemoryRegion region = memory.allocate(target, bytes, RegionOptions.readWrite());
        accepted.add(other);
        connections.add(connection);
        served.add(region);
        remotes.add(await(connection.attach(region.descriptor())));
    }

    TransferEngine initiator() {
        return initiator;
    }

    /** How many connections there are. */
    int count() {
        return connections.size();
    }

    Connection connection(int index) {
        return connections.get(index);
    }

    /** Holds up what goes over a connection. */
    HeldUpPeer heldUp(int index) {
        return new HeldUpPeer(connection(index), await(accepted.get(index)), initiator, target(index));
    }

    /** The engine at the other end of a connection. */
    TransferEngine target(int index) {
        return engines.get(index <= 1 ? index : index - 1);
    }

    MemoryRegion served(int index) {
        return served.get(index);
    }

    RemoteRegion remote(int index) {
        return remotes.get(index);
    }

    MemoryRegion local(long bytes) {
        return memory.allocate(initiator, bytes, RegionOptions.local());
    }

    /** Elements of all connections in turn; element i takes the i-th slot of the local region and of its connection's. */
    List<TransferElement> elements(MemoryRegion local, int count, int slot) {
        List<TransferElement> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long at = (long) i * slot;
            elements.add(new TransferElement(local, at, remote(i % count()), at, slot));
        }
        return elements;
    }

    void assertCreditsReturn() {
        until("the credits are back", () -> {
            for (Connection connection : connections) {
                if (connection.window().operations() != 0
                        || connection.window().bytes() != 0
                        || connection.pending() != 0) {
                    return false;
                }
            }
            // a connection gives its credit back before the engine's
            return initiator.metrics().window().operations() == 0
                    && initiator.metrics().window().bytes() == 0;
        });
    }

    @Override
    public void close() {
        await(CompletableFuture.allOf(
                engines.stream().map(TransferEngine::closeAsync).toArray(CompletableFuture[]::new)));
    }
}
