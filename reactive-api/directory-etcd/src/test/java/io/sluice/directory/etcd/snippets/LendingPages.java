package io.sluice.directory.etcd.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.blocks.BlockLeases;
import io.sluice.reactor.blocks.LeaseOutcome;
import io.sluice.reactor.blocks.ReceivedBlock;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Both ends of a page's way, for the page about discovery. */
abstract class LendingPages {
    abstract Mono<Void> use(ReceivedBlock block);

    @SuppressWarnings("unused")
    void run(
            ReactiveConnection connection,
            MemoryRegion page,
            RemoteRegion remote,
            BlockLeases leases,
            byte[] description) {
        // begin
        // Sender: the page may be reused when this emits.
        Mono<LeaseOutcome> returned = connection.write(page, remote, 0).then(leases.lend(description));

        // Receiver
        Flux<Void> uses = leases.received().flatMap(block -> use(block).then(block.acknowledge()));
        // end
    }
}
