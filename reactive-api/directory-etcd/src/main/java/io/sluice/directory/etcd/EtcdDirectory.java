package io.sluice.directory.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Directories in etcd (version 3.4 or later), by its own leases, transactions and watches.
 *
 * <p>A directory opened here probes etcd every second, and reconnects after a probe unanswered within {@link
 * DirectoryOptions#requestTimeout()}. With default options it recovers within five seconds of etcd.
 */
public final class EtcdDirectory {
    /** The default prefix of all keys. */
    public static final String DEFAULT_NAMESPACE = "/sluice/";

    /** A watch reads all heads of its prefix in one answer, which may exceed gRPC's default limit. */
    private static final int MOST_ANSWER_BYTES = 64 << 20;

    /** The shortest interval that gRPC accepts. It detects a silent member among several. */
    private static final Duration KEEP_ALIVE_TIME = Duration.ofSeconds(10);

    private EtcdDirectory() {}

    /**
     * Opens a directory with its own clients.
     *
     * @param endpoints the cluster's endpoints, as in {@code http://10.0.0.1:2379} or {@code
     *     http://[2001:db8::17]:2379}; for {@code https} see {@link #open(ClientBuilder, String, DirectoryOptions)}
     * @param options the directory's options; etcd's leases have whole seconds
     * @return the directory; it sends nothing before its first use
     * @throws IllegalArgumentException if there is no endpoint, or one has another form
     */
    public static Directory open(List<String> endpoints, DirectoryOptions options) {
        ClientBuilder client = Client.builder()
                .target(target(endpoints))
                .retryMaxAttempts(1)
                .maxInboundMessageSize(MOST_ANSWER_BYTES)
                .connectTimeout(options.requestTimeout())
                .keepaliveTime(KEEP_ALIVE_TIME)
                .keepaliveTimeout(options.requestTimeout());
        return open(client, DEFAULT_NAMESPACE, options);
    }

    /** Returns the target that the client makes of endpoints, but with encoded brackets: it refuses its own for IPv6. */
    private static String target(List<String> endpoints) {
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("there is no endpoint; give one of each member of etcd");
        }
        return endpoints.stream().map(EtcdDirectory::address).distinct().collect(Collectors.joining(",", "ip:///", ""));
    }

    private static String address(String endpoint) {
        URI uri = uri(endpoint);
        if (uri == null || !"http".equals(uri.getScheme()) || uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "'" + endpoint + "' is not an endpoint; write http://HOST:PORT, and an IPv6"
                            + " address in brackets, as http://[2001:db8::17]:2379. For https pass a ClientBuilder");
        }
        String host = uri.getHost().replace("%", "%25").replace("[", "%5B").replace("]", "%5D");
        return uri.getPort() < 0 ? host : host + ":" + uri.getPort();
    }

    private static @Nullable URI uri(String endpoint) {
        try {
            return new URI(endpoint.strip());
        } catch (URISyntaxException e) {
            return null;
        }
    }

    /**
     * Opens a directory with its own clients, with credentials and certificates.
     *
     * @param client builds the clients, one at a time; copied. Its {@code maxInboundMessageSize} must hold the heads of
     *     all names watched together, each of some hundred bytes to 256 KiB, and its {@code connectTimeout} should not
     *     exceed the request time-out
     * @param namespace the prefix of all keys; the client's user needs read and write permission on it
     * @param options the directory's options; etcd's leases have whole seconds
     * @return the directory; it sends nothing before its first use
     * @throws IllegalArgumentException if the builder has a Vert.x, which each client would close
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
     * Opens a directory over an existing client with its credentials and certificates. The client determines how soon
     * it recovers after an outage of etcd: gRPC notices a silent connection after the client's {@code keepaliveTime},
     * 10 s or more, and pauses for up to two minutes before it reconnects. {@link #open(ClientBuilder, String,
     * DirectoryOptions)} recovers sooner.
     *
     * @param client stays open when the directory is closed; its {@code maxInboundMessageSize} must hold the heads of
     *     all names watched together, each of some hundred bytes to 256 KiB
     * @param namespace the prefix of all keys; the client's user needs read and write permission on it
     * @param options the directory's options
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
