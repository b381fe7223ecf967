package io.sluice.directory.etcd;

import io.etcd.jetcd.Client;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** Directories in etcd (version 3.4 or later), by its own leases, transactions and watches. */
public final class EtcdDirectory {
    /** What all keys begin with, unless told otherwise. */
    public static final String DEFAULT_NAMESPACE = "/sluice/";

    /** A watch reads all heads of its prefix in one answer, of which etcd may send more than gRPC takes by itself. */
    private static final int MOST_ANSWER_BYTES = 64 << 20;

    private EtcdDirectory() {}

    /**
     * Opens a directory, with a client of its own.
     *
     * @param endpoints of the cluster, as in {@code http://10.0.0.1:2379}; with {@code https} see
     *     {@link #over(Client, String, DirectoryOptions)}
     * @param options times; etcd's leases are of whole seconds
     * @return the directory; nothing is sent before it is used
     */
    public static Directory open(List<String> endpoints, DirectoryOptions options) {
        Client client = Client.builder()
                .endpoints(endpoints.toArray(String[]::new))
                .retryMaxAttempts(1)
                .maxInboundMessageSize(MOST_ANSWER_BYTES)
                .connectTimeout(options.requestTimeout())
                .keepaliveTime(Duration.ofSeconds(10))
                .build();
        return Directory.over(new EtcdStore(client, DEFAULT_NAMESPACE, true), options);
    }

    /**
     * A directory over a client that exists, with its credentials and certificates.
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
                        Objects.requireNonNull(client, "client"),
                        Objects.requireNonNull(namespace, "namespace"),
                        false),
                options);
    }
}
