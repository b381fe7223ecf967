package io.sluice.samples.mover.http;

import io.vertx.ext.web.RoutingContext;

/** Headers by which a browser keeps to what this server has sent. */
final class SafeHeaders {

    private SafeHeaders() {}

    static void add(RoutingContext context) {
        context.response()
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Referrer-Policy", "no-referrer")
                .putHeader(
                        "Content-Security-Policy",
                        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        context.next();
    }
}
