package io.sluice.directory.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Directories in etcd (version 3.4 or later), by its own leases, transactions and watches.
 *
 * <p>A directory that is opened here asks etcd every second whether it is alive, and makes a new connection when there was no answer
 * within {@link DirectoryOptions#requestTimeout()}. With the default times it is back within five seconds of etcd.
 */
public final class EtcdDirectory {
    /** The default prefix of all keys. */
    public static final String DEFAULT_NAMESPACE = "/sluice/";

    /** A watch reads all heads of its prefix in one answer, of which etcd may send more than gRPC takes by itself. */
    private static final int MOST_ANSWER_BYTES = 64 << 20;

    /** The shortest that gRPC takes. It finds one silent member among several. */
    private static final Duration KEEP_ALIVE_TIME = Duration.ofSeconds(10);

    private EtcdDirectory() {}

    /**
     * Opens a directory, with clients of its own.
     *
     * @param endpoints of the cluster, as in {@code http://10.0.0.1:2379}; with {@code https} see
     *     {@link #open(ClientBuilder, String, DirectoryOptions)}
     * @param options times; etcd's leases are of whole seconds
     * @return the directory; nothing is sent before it is used
     */
    public static Directory open(List<String> endpoints, DirectoryOptions options) {
        ClientBuilder client = Client.builder()
                .endpoints(endpoints.toArray(String[]::new))
                .retryMaxAttempts(1)
                .maxInboundMessageSize(MOST_ANSWER_BYTES)
                .connectTimeout(options.requestTimeout())
                .keepaliveTime(KEEP_ALIVE_TIME)
                .keepaliveTimeout(options.requestTimeout());
        return open(client, DEFAULT_NAMESPACE, options);
    }

    /**
     * Opens a directory, with clients of its own that have credentials and certificates.
     *
     * @param client makes the clients, of which there is one at a time; copied. Its {@code maxInboundMessageSize} must hold the
     *     heads of all names that are watched together, of some hundred bytes to 256 KiB each, and its {@code connectTimeout}
     *     should not exceed the request time-out
     * @param namespace what all keys begin with; the client's user needs to read and write below it
     * @param options times; etcd's leases are of whole seconds
     * @return the directory; nothing is sent before it is used
     * @throws IllegalArgumentException if the builder has a Vert.x, which each of its clients would close
     */
    public static Directory open(ClientBuilder client, String namespace, DirectoryOptions options) {
        if (client.vertx() != null) {
            throw new IllegalArgumentException(
                    "each client closes the Vert.x of its builder: leave it out, or use over(client.build(), ...)");
        }
        ClientBuilder copy = client.copy();
        EtcdClients clients = EtcdClients.of(copy::build, options.requestTimeout());
        return Directory.over(new EtcdStore(clients, Objects.requireNonNull(namespace, "namespace")), options);
    }

    /**
     * A directory over a client that exists, with its credentials and certificates. How soon it is back after etcd was away is
     * the client's affair: gRPC notices a silent connection by the client's {@code keepaliveTime}, of 10 s or more, and pauses
     * for up to two minutes before it connects again. {@link #open(ClientBuilder, String, DirectoryOptions)} is back sooner.
     *
     * @param client stays open when the directory is closed; its {@code maxInboundMessageSize} must hold the heads of all
     *     names that are watched together, of some hundred bytes to 256 KiB each
     * @param namespace what all keys begin with; the client's user needs to read and write below it
     * @param options times
     * @return the directory
     */
    public static Directory over(Client client, String namespace, DirectoryOptions options) {
        return Directory.over(
                new EtcdStore(
                        EtcdClients.of(Objects.requireNonNull(client, "client")),
                        Objects.requireNonNull(namespace, "namespace")),
                options);
    }
}
