package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.MoverPair.DECODE;
import static io.sluice.samples.mover.http.MoverPair.PREFILL;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.awaitility.Awaitility;

/** The pool that tests register with both movers of a pair, and requests for moves of its blocks. */
final class KvPool {
    static final String POOL = "kv";
    static final int LAYERS = 2;
    static final int PAGE_BYTES = 4096;
    static final int PAGES = 4;
    static final long BLOCK_BYTES = LAYERS * PAGES * (PAGE_BYTES + 4L);

    private KvPool() {}

    static void registerOnBoth(MoverPair movers, int blocks) {
        movers.decodeApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, blocks);
        movers.prefillApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, blocks);
        movers.decodeApi.awaitPeer(PREFILL);
        movers.prefillApi.awaitPeer(DECODE);
    }

    static JsonObject from(String peer) {
        return new JsonObject().put("from", peer).put("pool", POOL);
    }

    static JsonObject to(String peer) {
        return new JsonObject().put("to", peer).put("pool", POOL);
    }

    /** Leases end by a message, which takes a moment. */
    static void awaitIdle(MoverPair movers) {
        for (HttpApi api : List.of(movers.decodeApi, movers.prefillApi)) {
            Awaitility.await()
                    .atMost(MoverPair.BOUND)
                    .until(() -> api.pool(POOL).getInteger("blocksReserved") == 0
                            && api.pool(POOL).getInteger("blocksPinned") == 0);
        }
    }
}
