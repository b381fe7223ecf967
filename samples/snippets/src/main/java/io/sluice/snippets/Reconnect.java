package io.sluice.snippets;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.reactor.recovery.ReconnectingConnection;
import io.sluice.reactor.recovery.ReconnectingRegion;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Goes on after the peer has restarted: the connection is made again, and the region is looked up by its name again. A
 * write that the restart has interrupted is repeated by the caller, as only it knows whether that is harmless.
 *
 * <p>Run: {@code ./sluice snippet Reconnect}
 */
public final class Reconnect {
    private Reconnect() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine writer = ReactiveTransferEngine.open();
        MemoryRegion source = writer.allocate(64, RegionOptions.local());
        source.segment().setString(0, "hello again");
        ReactiveTransferEngine first = owner(0);
        // Without the identity, which is another one after the restart.
        EngineAddress address =
                EngineAddress.of(first.address().host(), first.address().port());

        ReconnectingConnection connection = ReconnectingConnection.to(writer, address, ReconnectOptions.defaults());
        ReconnectingRegion inbox = connection.region("inbox");
        Mono<?> write = inbox.write(source, 0, 0, 64);
        write.block();
        first.close().block();
        ReactiveTransferEngine second = owner(address.port());
        write.retryWhen(Retry.backoff(20, Duration.ofMillis(10))).block();

        System.out.println("connections made: " + connection.connectionsMade());
        connection.close().block();
        Mono.when(writer.close(), second.close()).block();
    }

    private static ReactiveTransferEngine owner(int port) {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(
                EngineOptions.builder().listen("127.0.0.1", port).build());
        engine.allocate(64, RegionOptions.readWrite().named("inbox"));
        return engine;
    }
}
