package io.sluice.vertx.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.vertx.OwnVertx;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferClientOptions;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the programs of the documentation. */
@ExtendWith(OwnVertx.class)
class VertxSnippetsTest {
    @Test
    void theVerticleMovesAPage(Vertx vertx) throws Exception {
        try (TransferEngine peer = TransferEngine.open(
                EngineOptions.builder().transports(List.of("tcp")).build())) {
            MemoryRegion pages = peer.allocate(4096, RegionOptions.readWrite());
            JsonObject config = new JsonObject()
                    .put("peer", peer.address().toString())
                    .put("pages", pages.descriptor().toBytes());
            PageSender sender = new PageSender(config);
            String id = await(vertx.deployVerticle(sender));
            assertThat(pages.segment().getString(0)).isEqualTo("a page");
            await(vertx.undeploy(id));
        }
    }

    @Test
    void aProbeIsAnswered(Vertx vertx) throws Exception {
        TransferClient client = TransferClient.create(
                vertx, new TransferClientOptions().configureEngine(EngineOptions.Builder::noListener));
        HttpServer server = await(HealthServer.start(vertx, client));
        assertThat(probe(vertx, server)).isEqualTo(200);
        await(client.close());
        assertThat(probe(vertx, server)).isEqualTo(503);
    }

    @Test
    void aVirtualThreadMovesAPage(Vertx vertx) throws Exception {
        try (TransferEngine peer = TransferEngine.open(
                EngineOptions.builder().transports(List.of("tcp")).build())) {
            MemoryRegion pages = peer.allocate(4096, RegionOptions.readWrite());
            TransferClient client = TransferClient.create(
                    vertx, new TransferClientOptions().configureEngine(EngineOptions.Builder::noListener));
            TransferConnection connection = await(client.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(pages.descriptor()));
            MemoryRegion page = await(client.allocate(4096, RegionOptions.local()));
            page.segment().setString(0, "a page");
            CompletableFuture<Void> moved = CompletableFuture.runAsync(
                    () -> WaitingMover.move(connection, page, remote, TransferOptions.defaults()),
                    task -> Thread.ofVirtual().start(task));
            Patience.await(moved);
            assertThat(pages.segment().getString(0)).isEqualTo("a page");
        }
    }

    @Test
    void aPeerIsFoundByItsName(Vertx vertx) throws Exception {
        Directory directory = Directory.inProcess();
        try (TransferEngine peer = TransferEngine.open(
                EngineOptions.builder().transports(List.of("tcp")).build())) {
            directory.publish(Advertisement.of("decode/7", peer)).block(Patience.BOUND);
            TransferClient client = TransferClient.create(
                    vertx, new TransferClientOptions().configureEngine(EngineOptions.Builder::noListener));
            TransferConnection connection = await(PeerFinder.find(vertx, client, directory));
            assertThat(connection.connection().peer()).isEqualTo(peer.id());
        } finally {
            directory.close().block(Patience.BOUND);
        }
    }

    private static int probe(Vertx vertx, HttpServer server) throws Exception {
        // held until the answer is here: Vert.x closes the connections of a client that is garbage
        HttpClient http = vertx.createHttpClient();
        try {
            return await(http.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/health/live")
                    .compose(HttpClientRequest::send)
                    .map(HttpClientResponse::statusCode));
        } finally {
            await(http.close());
        }
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }
}
