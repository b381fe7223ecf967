package io.sluice.samples.mover.http;

import io.sluice.samples.mover.problem.Problem;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.PlatformHandler;
import org.jspecify.annotations.Nullable;

/**
 * Refuses what a browser sends for a foreign page: no password is asked for here, so such a page could use
 * the mover of its visitor. What is no browser sends no origin, and is served.
 */
final class OwnOrigin implements PlatformHandler {

    private static final int FORBIDDEN = 403;
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;
    private static final String HTTP = "http://";
    private static final String HTTPS = "https://";

    @Override
    public void handle(RoutingContext context) {
        HttpServerRequest request = context.request();
        String origin = request.getHeader("Origin");
        // A browser says so itself where it can: then a proxy may have put another name in place of the host's.
        if (origin == null
                || "same-origin".equals(request.getHeader("Sec-Fetch-Site"))
                || isOwn(origin, request.authority())) {
            context.next();
            return;
        }
        ProblemResponse.send(
                context,
                new Problem(
                        "foreign-origin",
                        FORBIDDEN,
                        "A page of another origin has asked",
                        "the header Origin names another host or port than the header Host",
                        "Use the page that this server serves; a proxy before it must pass the header Host on."));
    }

    /** Authorities are compared alone: before a server without TLS there may be a proxy with it. */
    private static boolean isOwn(String origin, @Nullable HostAndPort asked) {
        if (asked == null) {
            return false;
        }
        if (origin.startsWith(HTTPS)) {
            return isSame(HostAndPort.parseAuthority(origin.substring(HTTPS.length()), -1), asked, HTTPS_PORT);
        }
        return origin.startsWith(HTTP)
                && isSame(HostAndPort.parseAuthority(origin.substring(HTTP.length()), -1), asked, HTTP_PORT);
    }

    private static boolean isSame(@Nullable HostAndPort origin, HostAndPort asked, int standardPort) {
        return origin != null
                && origin.host().equalsIgnoreCase(asked.host())
                && port(origin, standardPort) == port(asked, standardPort);
    }

    private static int port(HostAndPort authority, int standardPort) {
        return authority.port() < 0 ? standardPort : authority.port();
    }
}
