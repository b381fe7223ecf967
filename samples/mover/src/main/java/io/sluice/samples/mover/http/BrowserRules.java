package io.sluice.samples.mover.http;

import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.PlatformHandler;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Keeps foreign web pages out: no password is asked for here, so such a page could use the mover of its visitor. */
record BrowserRules(boolean loopbackOnly) {
    private static final String HTTP = "http://";
    private static final String HTTPS = "https://";

    /** For a server that listens on a host. */
    static BrowserRules of(String listening) {
        return new BrowserRules(isLoopback(listening));
    }

    void addTo(RouterBuilder builder) {
        builder.rootHandler((PlatformHandler) this::requireKnownHost)
                .rootHandler((PlatformHandler) BrowserRules::requireOwnOrigin)
                .rootHandler((PlatformHandler) BrowserRules::addHeaders);
    }

    /**
     * Where only this machine is served, requests must name it: a foreign page, whose host name leads to this machine, would
     * otherwise be let in by the browser.
     */
    private void requireKnownHost(RoutingContext context) {
        HostAndPort authority = context.request().authority();
        if (!loopbackOnly || (authority != null && isLoopback(authority.host()))) {
            context.next();
        } else {
            ProblemResponse.send(context, Problems.UNKNOWN_HOST.with());
        }
    }

    /** Whether a host is {@code localhost}, or an address of loopback; IPv6 with brackets or without. */
    static boolean isLoopback(String host) {
        if (host.equalsIgnoreCase("localhost")) {
            return true;
        }
        boolean hasBrackets = host.startsWith("[") && host.endsWith("]");
        try {
            return InetAddress.ofLiteral(hasBrackets ? host.substring(1, host.length() - 1) : host)
                    .isLoopbackAddress();
        } catch (IllegalArgumentException name) {
            return false;
        }
    }

    /** Serves requests without an origin: they come from programs, not browsers. */
    private static void requireOwnOrigin(RoutingContext context) {
        HttpServerRequest request = context.request();
        String origin = request.getHeader("Origin");
        // A browser says so itself where it can: then a proxy may have put another name in place of the host's.
        if (origin == null
                || "same-origin".equals(request.getHeader("Sec-Fetch-Site"))
                || isOwn(origin, request.authority())) {
            context.next();
        } else {
            ProblemResponse.send(context, Problems.FOREIGN_ORIGIN.with());
        }
    }

    /** Authorities are compared alone: before a server without TLS there may be a proxy with it. */
    private static boolean isOwn(String origin, @Nullable HostAndPort asked) {
        boolean encrypted = origin.startsWith(HTTPS);
        if (asked == null || !(encrypted || origin.startsWith(HTTP))) {
            return false;
        }
        int standardPort = encrypted ? 443 : 80;
        HostAndPort own = HostAndPort.parseAuthority(origin.substring((encrypted ? HTTPS : HTTP).length()), -1);
        return own != null
                && own.host().equalsIgnoreCase(asked.host())
                && port(own, standardPort) == port(asked, standardPort);
    }

    private static int port(HostAndPort authority, int standardPort) {
        return authority.port() < 0 ? standardPort : authority.port();
    }

    private static void addHeaders(RoutingContext context) {
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
