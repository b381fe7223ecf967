package io.sluice.reactor.snippets;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.reactor.recovery.ReconnectingConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** The programs of the page about Reactor, in its order. */
final class ReactorByTask {
    private ReactorByTask() {}

    // begin
    static Mono<Long> send(ReactiveConnection connection, MemoryRegion source, RemoteRegion remote) {
        Flux<TransferElement> blocks =
                Flux.range(0, 64).map(i -> new TransferElement(source, i * 4096L, remote, i * 4096L, 4096));
        return connection
                .writeVectored(blocks)
                .limitRate(16)
                .filter(TransferResult::succeeded)
                .count();
    }
    // end

    // begin
    static Mono<TransferResult> sendPages(ReactiveConnection connection, MemoryRegion cache, RemoteRegion remote) {
        int[] here = {3, 17, 4};
        int[] there = {0, 1, 2};
        return connection.writePages(cache, here, remote, there, 16 << 10);
    }
    // end

    // begin
    static Mono<TransferResult> readWithRetry(ReactiveConnection connection, MemoryRegion local, RemoteRegion remote) {
        return connection
                .read(local, remote, 0)
                .retryWhen(Retry.backoff(3, Duration.ofMillis(50))
                        .filter(error -> error instanceof TransferTimeoutException));
    }

    static Flux<TransferResult> writeWithRetry(ReactiveConnection connection, List<TransferElement> elements) {
        return connection.writeVectored(elements, Retry.backoff(3, Duration.ofMillis(50)));
    }
    // end

    // begin
    static Mono<TransferResult> readAcrossReconnects(
            ReactiveTransferEngine engine, EngineAddress address, RegionDescriptor descriptor, MemoryRegion local) {
        var peer = ReconnectingConnection.over(engine.connect(address), ReconnectOptions.defaults())
                .start();
        return peer.mono(connection ->
                        connection.attach(descriptor).flatMap(remote -> connection.read(local, remote, 0)))
                .retryWhen(Retry.backoff(5, Duration.ofMillis(100))
                        .filter(error -> error instanceof ConnectionLostException))
                .doFinally(end -> peer.close().subscribe());
    }
    // end

    // begin
    static Mono<Void> writeAndForget(ReactiveConnection connection, MemoryRegion source, RemoteRegion remote) {
        var subscription = connection.write(source, remote, 0).subscribe();
        subscription.dispose();
        return connection.quiesced();
    }
    // end

    // begin
    static Mono<TransferResult> urgentRead(ReactiveConnection connection, MemoryRegion local, RemoteRegion remote) {
        TransferOptions urgent =
                TransferOptions.defaults().withDeadline(Duration.ofMillis(200)).withPriority(TransferPriority.HIGH);
        return connection.withOptions(urgent).read(local, remote, 0);
    }
    // end

    // begin
    static Flux<String> messages(ReactiveConnection connection) {
        return connection
                .notifications()
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .limitRate(8);
    }
    // end

    // begin
    static Mono<Long> writeWithSignal(
            ReactiveConnection connection, MemoryRegion source, RemoteRegion remote, Signal atTarget) {
        var update = new SignalUpdate(new RemoteSignal(remote, 4096), 1, SignalOrder.WEAK);
        return connection
                .writeWithSignal(source, remote, 0, update)
                .then(ReactiveTransferEngine.awaitAtLeast(atTarget, 1));
    }
    // end

    // begin
    static Mono<String> outcome(Mono<TransferResult> transfer) {
        return transfer.map(result -> "moved " + result.bytes() + " bytes")
                .onErrorResume(OutcomeUnknownException.class, e -> Mono.just("check the target before writing again"))
                .onErrorResume(ConnectionLostException.class, e -> Mono.just("connect again"))
                .onErrorResume(TransferTimeoutException.class, e -> Mono.just("too late"))
                .onErrorResume(SluiceException.class, e -> Mono.just(ErrorKind.of(e) + ": " + e.getMessage()));
    }
    // end
}
