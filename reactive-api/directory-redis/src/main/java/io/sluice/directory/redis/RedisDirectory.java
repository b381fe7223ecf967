package io.sluice.directory.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.util.Objects;

/**
 * Directories in one Redis (version 6 or later) or its sentinels' primary. Values are keys with a time to live. Changes are
 * published by the scripts that make them, on a channel; expired keys are published where the server has
 * {@code notify-keyspace-events Ex}, and otherwise noticed within {@link DirectoryOptions#reconcileInterval()}.
 *
 * <p>Each connection is asked every second whether it is alive, and replaced when there was no answer within
 * {@link DirectoryOptions#requestTimeout()}. With the default times a directory is back within five seconds of its server.
 *
 * <p>Redis replicates asynchronously: after a fail-over the newest entries may be missing until their engines' next beat.
 */
public final class RedisDirectory {
    /** The default prefix of all keys. The braces keep them together. */
    public static final String DEFAULT_NAMESPACE = "{sluice}:";

    private RedisDirectory() {}

    /**
     * Opens a directory, with a client of its own.
     *
     * @param uri as in {@code redis://10.0.0.1:6379/0}, or {@code rediss} for TLS
     * @param options times
     * @return the directory; nothing is sent before it is used
     * @throws IllegalArgumentException if the text is no such URI; it does not quote it
     */
    public static Directory open(String uri, DirectoryOptions options) {
        RedisURI address = address(uri);
        address.setTimeout(options.requestTimeout());
        RedisClient client = RedisClient.create(address);
        client.setOptions(ClientOptions.builder()
                // A connection that has ended is not mended but replaced.
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
        try {
            return RedisURI.create(uri);
        } catch (IllegalArgumentException secret) {
            // Neither its text nor its cause: both quote the URI, with the password.
            throw new IllegalArgumentException(
                    "this is no Redis URI; special characters of a password are percent-encoded");
        }
    }

    /**
     * A directory over a client that exists, with its credentials and certificates.
     *
     * @param client stays open when the directory is closed
     * @param address of the server, with the database
     * @param namespace what all keys and the channel begin with
     * @param options times
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
