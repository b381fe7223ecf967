package io.sluice.samples.mover.http;

import io.sluice.samples.mover.problem.Problem;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.PlatformHandler;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Where only this machine is served, requests must name it: a foreign web page, whose host name leads to this machine,
 * would otherwise be let in by the browser.
 */
final class KnownHosts implements PlatformHandler {

    private static final int MISDIRECTED = 421;

    private final boolean loopbackOnly;

    KnownHosts(String listening) {
        this.loopbackOnly = isLoopback(listening);
    }

    private static boolean isLoopback(@Nullable HostAndPort authority) {
        return authority != null && isLoopback(authority.host());
    }

    @Override
    public void handle(RoutingContext context) {
        HostAndPort authority = context.request().authority();
        if (!loopbackOnly || isLoopback(authority)) {
            context.next();
            return;
        }
        ProblemResponse.send(
                context,
                new Problem(
                        "unknown-host",
                        MISDIRECTED,
                        "This machine is asked under a name that it does not know",
                        "only loopback is served here, by the names 127.0.0.1, localhost and [::1]",
                        "Use one of these, or start the mover with --http-host."));
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
}
