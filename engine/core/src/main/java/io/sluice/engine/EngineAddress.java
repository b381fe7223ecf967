package io.sluice.engine;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The address at which peers reach an engine: a host, a port and, to detect stale metadata, the engine's identity.
 *
 * <p>Text form: {@code host:port} or {@code host:port#engine-id}; an IPv6 literal is written in brackets.
 *
 * @param host a host name or a literal address, without brackets; an IPv6 address may have a scope ({@code
 *     fe80::1%eth0})
 * @param port the TCP port of the bootstrap, 1 to 65535
 * @param engineId the engine that must answer there, or {@code null} for any
 */
public record EngineAddress(String host, int port, @Nullable EngineId engineId) {
    private static final byte VERSION = 1;
    private static final int MAX_HOST_BYTES = 255;

    /** Checks the ranges. */
    public EngineAddress {
        HostAndPort.checkHost(host);
        if (host.getBytes(StandardCharsets.UTF_8).length > MAX_HOST_BYTES) {
            throw new IllegalArgumentException(
                    "a host has at most " + MAX_HOST_BYTES + " bytes; '" + host + "' has more");
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("a port is 1 to 65535, not " + port);
        }
    }

    /**
     * Returns an address that any engine may answer.
     *
     * @param host a host name or a literal address
     * @param port 1 to 65535
     * @return the address
     */
    public static EngineAddress of(String host, int port) {
        return new EngineAddress(host, port, null);
    }

    /**
     * Parses the text form.
     *
     * @param text {@code host:port} or {@code host:port#engine-id}
     * @return the address
     * @throws IllegalArgumentException if the text has another form; the message says which is expected
     */
    public static EngineAddress parse(String text) {
        EngineId id = null;
        String rest = text.strip();
        int hash = rest.indexOf('#');
        if (hash >= 0) {
            id = EngineId.parse(rest.substring(hash + 1));
            rest = rest.substring(0, hash);
        }
        HostAndPort where = HostAndPort.parse(rest);
        return new EngineAddress(where.host(), where.port(), id);
    }

    /**
     * Returns the binary form for directories and the wire: version (1 byte), flags (1; bit 0: an engine id follows),
     * port (2), engine id (16, if flagged), length of the host (1), host in UTF-8; in network byte order.
     *
     * @return at most 276 bytes
     */
    public byte[] toBytes() {
        byte[] name = host.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(4 + (engineId == null ? 0 : 16) + 1 + name.length);
        out.put(VERSION).put((byte) (engineId == null ? 0 : 1)).putShort((short) port);
        if (engineId != null) {
            out.putLong(engineId.high()).putLong(engineId.low());
        }
        out.put((byte) name.length).put(name);
        return out.array();
    }

    /**
     * Decodes the form that {@link #toBytes()} returns.
     *
     * @param bytes exactly the encoded form
     * @return the address
     * @throws IllegalArgumentException if the bytes are damaged or of another version
     */
    public static EngineAddress fromBytes(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length < 5 || in.get() != VERSION) {
            throw new IllegalArgumentException(
                    "these " + bytes.length + " bytes are not an engine address of version 1");
        }
        int flags = in.get();
        int port = Short.toUnsignedInt(in.getShort());
        EngineId id = null;
        if ((flags & ~1) != 0 || in.remaining() < (flags == 1 ? 17 : 1)) {
            throw new IllegalArgumentException("the engine address is cut short or damaged");
        }
        if (flags == 1) {
            id = new EngineId(in.getLong(), in.getLong());
        }
        int length = Byte.toUnsignedInt(in.get());
        if (in.remaining() != length) {
            throw new IllegalArgumentException(
                    "the engine address names a host of " + length + " bytes but carries " + in.remaining());
        }
        return new EngineAddress(new String(bytes, bytes.length - length, length, StandardCharsets.UTF_8), port, id);
    }

    /**
     * Resolves the host name. This may block: do not call it on a poller.
     *
     * @return the socket address, possibly unresolved
     */
    public InetSocketAddress resolve() {
        return new InetSocketAddress(host, port);
    }

    /** Returns the text form that {@link #parse(String)} reads. */
    @Override
    public String toString() {
        return HostAndPort.text(host, port) + (engineId == null ? "" : "#" + engineId);
    }
}
