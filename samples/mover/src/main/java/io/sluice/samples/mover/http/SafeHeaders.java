package io.sluice.samples.mover.http;

import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.PlatformHandler;

/** Headers by which a browser keeps to what this server has sent. */
final class SafeHeaders implements PlatformHandler {

    @Override
    public void handle(RoutingContext context) {
        context.response()
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Referrer-Policy", "no-referrer")
                .putHeader("Cross-Origin-Resource-Policy", "same-origin")
                .putHeader(
                        "Content-Security-Policy",
                        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        context.next();
    }
}
