package io.sluice.engine;

import java.net.Inet6Address;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A host and a port as text: {@code HOST:PORT}, with an IPv6 address in brackets, as {@code [2001:db8::17]:7400}.
 * {@link #parse} reads all options and variables of Sluice that take an address.
 *
 * @param host a host name or a literal address, without brackets; an IPv6 address may have a scope, as {@code
 *     fe80::1%eth0}
 * @param port 0 to 65535; the meaning of 0 depends on the option
 */
public record HostAndPort(String host, int port) {
    private static final int MAX_PORT = 65_535;
    private static final int EXAMPLE_PORT = 7400;
    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

    /** Checks the host's form and the port's range. */
    public HostAndPort {
        checkHost(host);
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("a port is 0 to " + MAX_PORT + ", not " + port);
        }
    }

    /**
     * Parses the text form; surrounding white space is ignored.
     *
     * @param text {@code HOST:PORT}
     * @return the host and port
     * @throws IllegalArgumentException if the text has another form, such as an IPv6 address without brackets, whose
     *     end is ambiguous with a port; the message shows what to write
     */
    public static HostAndPort parse(String text) {
        String stripped = text.strip();
        int colon = stripped.lastIndexOf(':');
        String host;
        if (stripped.startsWith("[")) {
            int close = stripped.indexOf(']');
            host = close < 0 ? "" : stripped.substring(1, close);
            if (!isIpv6(host)) {
                throw new IllegalArgumentException(notAnAddress(text));
            }
            if (colon != close + 1) {
                throw new IllegalArgumentException("'" + text + "' has no port; write " + text(host, EXAMPLE_PORT));
            }
        } else {
            host = colon < 0 ? "" : stripped.substring(0, colon);
            if (isIpv6(stripped) || isIpv6(host)) {
                throw new IllegalArgumentException(bare(stripped));
            }
            if (host.isEmpty() || host.indexOf(':') >= 0) {
                throw new IllegalArgumentException(notAnAddress(text));
            }
        }
        String port = stripped.substring(colon + 1);
        if (!DIGITS.matcher(port).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' has no port number after the last colon; write " + text(host, EXAMPLE_PORT));
        }
        try {
            return new HostAndPort(host, Integer.parseInt(port));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is not an address: " + e.getMessage(), e);
        }
    }

    /** Returns the text form that {@link #parse(String)} reads. */
    @Override
    public String toString() {
        return text(host, port);
    }

    /**
     * Formats a host and port for messages. The host need not be valid.
     *
     * @param host a name or an address, without brackets
     * @param port the port
     * @return {@code HOST:PORT}, with brackets around a host that has a colon
     */
    public static String text(String host, int port) {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    /** A name or a literal address without brackets. */
    static String checkHost(String host) {
        Objects.requireNonNull(host, "host");
        if (host.startsWith("[") && host.endsWith("]") && isIpv6(host.substring(1, host.length() - 1))) {
            throw new IllegalArgumentException("'" + host
                    + "' is a host in brackets; they belong to HOST:PORT, so write "
                    + host.substring(1, host.length() - 1));
        }
        if (host.isEmpty() || host.chars().anyMatch(HostAndPort::isForeign)) {
            throw new IllegalArgumentException("'" + host + "' is not a host name or address");
        }
        if (host.indexOf(':') >= 0 && !isIpv6(host)) {
            throw new IllegalArgumentException(
                    "'" + host + "' has a colon, but is not an IPv6 address; give the host without a port");
        }
        return host;
    }

    /** Whether a character cannot be part of the text form, because it would not be read back unchanged. */
    private static boolean isForeign(int c) {
        return c <= ' ' || Character.isSpaceChar(c) || c == '#' || c == '[' || c == ']';
    }

    private static String bare(String address) {
        int colon = address.lastIndexOf(':');
        String front = address.substring(0, colon);
        String back = address.substring(colon + 1);
        boolean split = isIpv6(front) && DIGITS.matcher(back).matches();
        String shown = split ? text(front, Integer.parseInt(back)) : "";
        if (isIpv6(address)) {
            String whole = text(address, EXAMPLE_PORT);
            shown = split ? shown + ", or " + whole + " if all of it is the address" : whole;
        } else if (!split) {
            shown = text(front, EXAMPLE_PORT);
        }
        return "'" + address + "' is an IPv6 address without brackets, so its end is ambiguous with a port; write "
                + shown;
    }

    private static String notAnAddress(String text) {
        return "'" + text + "' is not an address; write HOST:PORT, and an IPv6 address in brackets, as [::1]:"
                + EXAMPLE_PORT;
    }

    /** Whether it is an IPv6 address, whose scope, if it has one, need not exist here. */
    private static boolean isIpv6(String text) {
        int percent = text.indexOf('%');
        String address = percent < 0 ? text : text.substring(0, percent);
        if (percent == text.length() - 1 || address.indexOf(':') < 0 || address.startsWith("[")) {
            return false;
        }
        try {
            return Inet6Address.ofLiteral(address) != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
