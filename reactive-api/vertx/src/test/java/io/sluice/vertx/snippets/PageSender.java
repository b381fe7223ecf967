package io.sluice.vertx.snippets;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferClientOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;

// begin
class PageSender extends VerticleBase {
    private final JsonObject config;

    PageSender(JsonObject config) {
        this.config = config;
    }

    @Override
    public Future<?> start() {
        // one engine for all instances, closed with the last of them
        TransferClient client = TransferClient.create(
                vertx, new TransferClientOptions().setShared(true).setName("kv-cache"));
        EngineAddress peer = EngineAddress.parse(config.getString("peer"));
        RegionDescriptor pages = RegionDescriptor.fromBytes(config.getBinary("pages"));
        return client.allocate(4096, RegionOptions.local())
                .compose(page -> client.connection(peer)
                        .compose(connection ->
                                connection.attach(pages).compose(remote -> connection.write(filled(page), remote, 0))));
    }

    private static MemoryRegion filled(MemoryRegion page) {
        page.segment().setString(0, "a page");
        return page;
    }
}
// end
