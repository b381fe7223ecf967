package io.sluice.samples.command;

import io.sluice.engine.HostAndPort;

/**
 * Where to listen.
 *
 * @param host a name or a literal address, without brackets
 * @param port 0 for any free one
 */
record ListenAddress(String host, int port) {
    /** Any free port, reachable from this machine alone. */
    static final ListenAddress LOOPBACK = new ListenAddress("127.0.0.1", 0);

    /** The address that a text stands for: {@code HOST:PORT}, an IPv6 address in brackets. */
    static ListenAddress parse(String text) {
        HostAndPort address = HostAndPort.parse(text);
        return new ListenAddress(address.host(), address.port());
    }

    @Override
    public String toString() {
        return HostAndPort.text(host, port);
    }
}
