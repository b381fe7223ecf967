package io.sluice.samples.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where to listen.
 *
 * @param host a name or a literal address, without brackets
 * @param port 0 for any free one
 */
record ListenAddress(String host, int port) {

    /** Any free port, reachable from this machine alone. */
    static final ListenAddress LOOPBACK = new ListenAddress("127.0.0.1", 0);

    private static final int MAX_PORT = 65_535;

    /** The address that a text stands for: {@code HOST:PORT}, an IPv6 address in brackets. */
    static ListenAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]") && host.length() > 2;
        if (host.isBlank() || (!bracketed && (host.indexOf(':') >= 0 || host.indexOf('[') >= 0))) {
            throw new IllegalArgumentException("'" + text
                    + "' is no address to listen on: give HOST:PORT, an IPv6 address in brackets, as [::1]:7000");
        }
        return new ListenAddress(bracketed ? host.substring(1, host.length() - 1) : host, port(text, colon + 1));
    }

    private static int port(String text, int from) {
        try {
            int port = Integer.parseInt(text.substring(from));
            if (port >= 0 && port <= MAX_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' has no port number after the last colon", e);
        }
        throw new IllegalArgumentException("'" + text + "': a port is 0, for any free one, to " + MAX_PORT);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    /** For options that take such an address. */
    static final class Converter implements ITypeConverter<ListenAddress> {
        @Override
        public ListenAddress convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
