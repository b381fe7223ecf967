package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import java.lang.foreign.ValueLayout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Hands out tickets by fetch-and-add on a word of the peer's memory, and takes a lock there by compare-and-swap.
 *
 * <p>Run: {@code ./sluice snippet AtomicCounters}
 */
public final class AtomicCounters {
    private static final long TICKETS = 0;
    private static final long LOCK = 8;
    private static final long FREE = 0;

    private AtomicCounters() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine owner = ReactiveTransferEngine.open();
        ReactiveTransferEngine worker = ReactiveTransferEngine.open();
        MemoryRegion words = owner.allocate(16, RegionOptions.readWrite());

        worker.connect(owner.address())
                .flatMap(
                        connection -> connection.attach(words.descriptor()).flatMap(remote -> work(connection, remote)))
                .block();

        System.out.println("tickets given: " + words.segment().get(ValueLayout.JAVA_LONG, TICKETS));
        Mono.when(worker.close(), owner.close()).block();
    }

    private static Mono<Void> work(ReactiveConnection connection, RemoteRegion words) {
        // Both answer with the value before them.
        Flux<Long> tickets = Flux.range(0, 3).concatMap(i -> connection.fetchAdd(words, TICKETS, 1));
        Mono<Boolean> locked = connection.compareAndSwap(words, LOCK, FREE, 42).map(before -> before == FREE);
        return tickets.doOnNext(ticket -> System.out.println("ticket " + ticket))
                .then(locked)
                .doOnNext(first -> System.out.println("lock taken: " + first))
                .then(locked)
                .doOnNext(second -> System.out.println("taken a second time: " + second))
                .then();
    }
}
