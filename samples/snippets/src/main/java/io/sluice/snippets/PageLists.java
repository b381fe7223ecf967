package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import reactor.core.publisher.Mono;

/**
 * Writes scattered pages of one size in one transfer: a list of page numbers here, and one of those at the peer. This is
 * how a block table of a KV cache moves, without an object for each page.
 *
 * <p>Run: {@code ./sluice snippet PageLists}
 */
public final class PageLists {
    private static final int PAGE = 4096;

    private PageLists() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine decode = ReactiveTransferEngine.open();
        ReactiveTransferEngine prefill = ReactiveTransferEngine.open();
        MemoryRegion pool = decode.allocate(16 * PAGE, RegionOptions.readWrite());
        MemoryRegion cache = prefill.allocate(16 * PAGE, RegionOptions.local());
        int[] from = {3, 4, 11};
        int[] to = {9, 0, 5};
        for (int page : from) {
            cache.segment().setString((long) page * PAGE, "page " + page);
        }

        prefill.connect(decode.address())
                .flatMap(connection -> connection
                        .attach(pool.descriptor())
                        .flatMap(remote -> connection.writePages(cache, from, remote, to, PAGE)))
                .block();

        for (int page : to) {
            System.out.println("slot " + page + " holds " + pool.segment().getString((long) page * PAGE));
        }
        Mono.when(prefill.close(), decode.close()).block();
    }
}
