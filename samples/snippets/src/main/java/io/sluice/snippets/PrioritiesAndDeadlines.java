package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveEvents;
import io.sluice.reactor.ReactiveTransferEngine;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Sends an urgent write ahead of bulk data by a priority, and ends a transfer by a deadline: its start event never
 * happens, so it times out.
 *
 * <p>Run: {@code ./sluice snippet PrioritiesAndDeadlines}
 */
public final class PrioritiesAndDeadlines {
    private static final int BULK = 32 << 20;

    private PrioritiesAndDeadlines() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine owner = ReactiveTransferEngine.open();
        ReactiveTransferEngine writer = ReactiveTransferEngine.open();
        MemoryRegion target = owner.allocate(BULK, RegionOptions.readWrite());
        MemoryRegion source = writer.allocate(BULK, RegionOptions.local());

        writer.connect(owner.address())
                .flatMap(connection -> transfer(connection, source, target))
                .block();

        Mono.when(writer.close(), owner.close()).block();
    }

    private static Mono<Void> transfer(ReactiveConnection connection, MemoryRegion source, MemoryRegion target) {
        TransferOptions low = TransferOptions.defaults().withPriority(TransferPriority.LOW);
        TransferOptions high = TransferOptions.defaults().withPriority(TransferPriority.HIGH);
        TransferOptions late = TransferOptions.defaults()
                .startAfter(ReactiveEvents.startEvent(Mono.never()))
                .withDeadline(Duration.ofMillis(100));
        return connection.attach(target.descriptor()).flatMap(remote -> {
            Mono<?> bulk = connection.write(source, 0, remote, 0, BULK, low);
            Mono<?> urgent = connection.write(source, 0, remote, 0, 64, high);
            Mono<?> expired = connection
                    .write(source, 0, remote, 0, 64, late)
                    .doOnError(TransferTimeoutException.class, error -> System.out.println("expired: " + error))
                    .onErrorComplete(TransferTimeoutException.class);
            return Mono.when(
                            bulk.doOnNext(done -> System.out.println("bulk is there")),
                            urgent.doOnNext(done -> System.out.println("urgent is there")))
                    .then(expired)
                    .then();
        });
    }
}
