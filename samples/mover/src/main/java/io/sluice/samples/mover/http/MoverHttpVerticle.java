package io.sluice.samples.mover.http;

import io.sluice.samples.mover.MoverClient;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.openapi.router.RequestExtractor;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Serves a mover over HTTP, as {@code openapi.yaml} says: it validates requests and passes them on over the event bus. It
 * has no state but the clients that listen, so any number of it can serve one mover.
 */
public final class MoverHttpVerticle extends VerticleBase {
    private static final int IDLE_SECONDS = 60;

    private final MoverHttpOptions options;
    private volatile int port;
    private @Nullable EventStreams streams;

    public MoverHttpVerticle(MoverHttpOptions options) {
        this.options = Objects.requireNonNull(options, "options");
    }

    /** Where it listens; 0 before it does. */
    public int port() {
        return port;
    }

    @Override
    public Future<?> start() {
        MoverClient mover =
                options.isLocal() ? MoverClient.local(vertx, options.mover()) : MoverClient.of(vertx, options.mover());
        EventStreams listeners = new EventStreams(vertx, mover, options.limits().eventStreams());
        streams = listeners;
        listeners.begin();
        return Contract.read(vertx)
                .compose(contract -> PackagedPage.read(vertx).map(page -> router(contract, page, mover, listeners)))
                .compose(this::listen)
                .onSuccess(server -> port = server.actualPort());
    }

    private Router router(Contract contract, PackagedPage page, MoverClient mover, EventStreams listeners) {
        RouterBuilder builder = RouterBuilder.create(vertx, contract.contract(), RequestExtractor.withBodyHandler());
        BrowserRules.of(options.host()).addTo(builder);
        builder.rootHandler(
                BodyHandler.create(false).setBodyLimit(options.limits().bodyBytes()));
        new MoverRoutes(builder, vertx, mover, options.metricsRegistry()).add(listeners);
        Router router = builder.createRouter();
        router.get("/openapi.yaml")
                .handler(context -> context.response()
                        .putHeader("Content-Type", "application/yaml")
                        .end(contract.text()));
        router.get("/*").handler(page);
        ProblemResponse.addTo(router);
        return router;
    }

    private Future<HttpServer> listen(Router router) {
        ConnectionGate gate = new ConnectionGate(
                options.limits().connections(), options.limits().requestTimeout());
        gate.begin(vertx);
        return vertx.createHttpServer(new HttpServerOptions()
                        .setHost(options.host())
                        .setPort(options.port())
                        // what a connection of HTTP/2 holds is not bounded by request
                        .setHttp2ClearTextEnabled(false)
                        .setIdleTimeout(IDLE_SECONDS)
                        // of a client that takes no answers, however often it sends; event streams write more often
                        .setWriteIdleTimeout(2 * IDLE_SECONDS))
                .connectionHandler(gate::admit)
                .requestHandler(gate.watching(router))
                .listen();
    }

    @Override
    public Future<?> stop() {
        if (streams != null) {
            streams.close();
        }
        return Future.succeededFuture();
    }
}
