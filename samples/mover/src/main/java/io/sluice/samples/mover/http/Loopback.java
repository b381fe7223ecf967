package io.sluice.samples.mover.http;

import java.net.InetAddress;

/** Which hosts are this machine's loopback, without asking a name server. */
final class Loopback {

    private Loopback() {}

    /** Whether a host is {@code localhost}, or an address of loopback in whatever notation; IPv6 with brackets or without. */
    static boolean isNamedBy(String host) {
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
