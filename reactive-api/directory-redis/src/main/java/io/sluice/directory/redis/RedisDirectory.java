package io.sluice.directory.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Directories in one Redis (version 6 or later), or the primary of its sentinels. Values are keys with a time to live.
 * The scripts that change them publish the changes on a channel. Expired keys are published if the server has {@code
 * notify-keyspace-events Ex}, and otherwise noticed within {@link DirectoryOptions#reconcileInterval()}.
 *
 * <p>Each connection is probed every second, and replaced after a probe unanswered within {@link
 * DirectoryOptions#requestTimeout()}. With default options a directory recovers within five seconds of its server.
 *
 * <p>Redis replicates asynchronously: after a failover the newest entries may be missing until their engines' next
 * beat.
 */
public final class RedisDirectory {
    /** The default prefix of all keys. The braces keep them in one hash slot. */
    public static final String DEFAULT_NAMESPACE = "{sluice}:";

    private RedisDirectory() {}

    /**
     * Opens a directory with its own client.
     *
     * @param uri a URI such as {@code redis://10.0.0.1:6379/0} or {@code redis://[2001:db8::17]:6379}, or {@code rediss}
     *     for TLS
     * @param options the directory's options
     * @return the directory; it sends nothing before its first use
     * @throws IllegalArgumentException if the URI is invalid; the message does not quote it
     */
    public static Directory open(String uri, DirectoryOptions options) {
        RedisURI address = address(uri);
        address.setTimeout(options.requestTimeout());
        RedisClient client = RedisClient.create(address);
        client.setOptions(ClientOptions.builder()
                // an ended connection is replaced rather than reconnected
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(options.requestTimeout())
                        .build())
                .build());
        return Directory.over(
                new RedisStore(client, address, DEFAULT_NAMESPACE, true, options.requestTimeout()), options);
    }

    private static RedisURI address(String uri) {
        RedisURI address = parsed(uri);
        if (Stream.concat(Stream.of(address), address.getSentinels().stream()).anyMatch(RedisDirectory::hasBareIpv6)) {
            throw new IllegalArgumentException(
                    "the Redis URI has an IPv6 address without brackets, so its end is ambiguous"
                            + " with a port; write it as in redis://[2001:db8::17]:6379");
        }
        return address;
    }

    private static boolean hasBareIpv6(RedisURI address) {
        String host = address.getHost();
        return host != null && host.indexOf(':') >= 0 && !host.startsWith("[");
    }

    private static RedisURI parsed(String uri) {
        try {
            return RedisURI.create(uri);
        } catch (IllegalArgumentException secret) {
            // without its message and cause: both quote the URI with the password
            throw new IllegalArgumentException(
                    "the Redis URI is invalid; percent-encode special characters of its password");
        }
    }

    /**
     * Opens a directory over an existing client with its credentials and certificates.
     *
     * @param client stays open when the directory is closed
     * @param address the server's address, with the database
     * @param namespace the prefix of all keys and of the channel
     * @param options the directory's options
     * @return the directory
     */
    public static Directory over(RedisClient client, RedisURI address, String namespace, DirectoryOptions options) {
        return Directory.over(
                new RedisStore(
                        Objects.requireNonNull(client, "client"),
                        Objects.requireNonNull(address, "address"),
                        Objects.requireNonNull(namespace, "namespace"),
                        false,
                        options.requestTimeout()),
                options);
    }
}
