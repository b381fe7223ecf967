package io.sluice.snippets;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import reactor.core.publisher.Mono;

/**
 * Tells the peer that its memory has new contents. A notification arrives after the writes before it, so the receiver may
 * read what they wrote.
 *
 * <p>Run: {@code ./sluice snippet Notifications}
 */
public final class Notifications {
    private Notifications() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine receiver = ReactiveTransferEngine.open();
        ReactiveTransferEngine sender = ReactiveTransferEngine.open();
        MemoryRegion inbox = receiver.allocate(64, RegionOptions.readWrite());
        MemoryRegion source = sender.allocate(64, RegionOptions.local());
        source.segment().setString(0, "block 17");

        var received = receiver.accepted()
                .next()
                .flatMap(connection -> connection.notifications().next())
                .map(message ->
                        new String(message, UTF_8) + ": " + inbox.segment().getString(0))
                .toFuture();
        sender.connect(receiver.address())
                .flatMap(connection -> send(connection, source, inbox))
                .block();

        System.out.println("received " + received.join());
        Mono.when(sender.close(), receiver.close()).block();
    }

    private static Mono<Void> send(ReactiveConnection connection, MemoryRegion source, MemoryRegion inbox) {
        return connection
                .attach(inbox.descriptor())
                .flatMap(remote -> connection.write(source, remote, 0))
                .then(connection.notify("ready".getBytes(UTF_8)));
    }
}
