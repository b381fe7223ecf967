package io.sluice.samples.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.vertx.VertxDirectory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A Vert.x instance that is a member of a cluster.
 *
 * @param vertx closing it leaves the cluster
 */
public record ClusterMember(Vertx vertx, HazelcastClusterManager cluster) {
    /**
     * Joins a cluster, or begins one if there is no other member yet.
     *
     * @param options where it listens, and how it finds the others; they override what the Vert.x options say of the event
     *     bus' address
     * @param builder what else it is built with, such as metrics
     * @return the member; it fails if an address cannot be bound
     */
    public static Future<ClusterMember> join(ClusterOptions options, VertxOptions vertxOptions, VertxBuilder builder) {
        HazelcastClusterManager cluster = new HazelcastClusterManager(config(options));
        VertxOptions bound = new VertxOptions(vertxOptions);
        bound.getEventBusOptions()
                .setHost(options.host())
                .setPort(options.eventBusPort())
                .setClusterPublicHost(options.host());
        return builder.with(bound)
                .withClusterManager(cluster)
                .buildClustered()
                .map(vertx -> new ClusterMember(vertx, cluster));
    }

    /**
     * A directory in the cluster's shared data.
     *
     * @return closed before Vert.x is
     */
    public Directory directory(DirectoryOptions options) {
        return VertxDirectory.over(vertx, cluster, options);
    }

    /** A member that is killed is missed at once, as its connections end; this is for one that hangs. */
    private static final String HEARTBEAT_SECONDS = "1";

    private static final String WAIT = "hazelcast.wait.seconds.before.join";
    private static final String LOOKUP_SECONDS = "5";

    static Config config(ClusterOptions options) {
        // Messages of Hazelcast before it reads its settings go to the log as well.
        System.setProperty("hazelcast.logging.type", "slf4j");
        Config config = new Config();
        config.setClusterName(options.cluster());
        config.setProperty("hazelcast.phone.home.enabled", "false");
        // Vert.x takes it out of the cluster when it is closed.
        config.setProperty("hazelcast.shutdownhook.enabled", "false");
        config.setProperty("hazelcast.heartbeat.interval.seconds", HEARTBEAT_SECONDS);
        config.setProperty("hazelcast.max.no.heartbeat.seconds", "15");
        // Connections are made from the same address as well.
        config.setProperty("hazelcast.socket.bind.any", "false");
        NetworkConfig network = config.getNetworkConfig();
        network.setPort(options.port()).setPortAutoIncrement(false);
        network.getInterfaces().setEnabled(true).setInterfaces(List.of(options.host()));
        join(config, options);
        return config;
    }

    private static void join(Config config, ClusterOptions options) {
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        String service = options.service();
        if (service == null) {
            config.setProperty(WAIT, "0");
            join.getTcpIpConfig().setEnabled(true).setMembers(options.members());
        } else {
            // For so long names are looked up: without any time they are not looked up at all.
            config.setProperty(WAIT, LOOKUP_SECONDS);
            // Asks the name server, and needs no right to ask Kubernetes itself.
            join.getKubernetesConfig()
                    .setEnabled(true)
                    .setProperty("service-dns", service)
                    .setProperty("service-port", Integer.toString(options.servicePort()));
        }
    }

    /**
     * Where a member of a cluster of Vert.x instances listens, and how it finds the others. Immutable.
     *
     * @param cluster name of the cluster; members of others are not let in
     * @param host this member's own address, to which the cluster and the event bus are bound; others reach it there
     * @param port the cluster's, from 1 to 65,535
     * @param eventBusPort the event bus', from 1 to 65,535, or 0 for any free one
     * @param members addresses of members, each {@code HOST:PORT}; this one may be among them
     * @param service a host name that stands for all members, as that of a headless service does; {@code null} if they are named
     *     one by one
     * @param servicePort where members that are found by that name listen, from 1 to 65,535
     */
    public record ClusterOptions(
            String cluster,
            String host,
            int port,
            int eventBusPort,
            List<String> members,
            @Nullable String service,
            int servicePort) {
        /** The default name of the cluster. */
        public static final String DEFAULT_CLUSTER = "sluice";

        private static final int MAX_PORT = 65_535;

        public ClusterOptions {
            Objects.requireNonNull(cluster, "cluster");
            Objects.requireNonNull(host, "host");
            members = List.copyOf(members);
            requirePort("the cluster's", port);
            if (service != null) {
                requirePort("the service's", servicePort);
            }
            if (eventBusPort < 0 || eventBusPort > MAX_PORT) {
                throw new IllegalArgumentException("the event bus' port is 0 to " + MAX_PORT + ", not " + eventBusPort);
            }
        }

        private static void requirePort(String whose, int port) {
            if (port < 1 || port > MAX_PORT) {
                throw new IllegalArgumentException(whose + " port is 1 to " + MAX_PORT + ", not " + port);
            }
        }

        public static ClusterOptions ofMembers(
                String cluster, String host, int port, int eventBusPort, List<String> members) {
            return new ClusterOptions(cluster, host, port, eventBusPort, members, null, port);
        }
    }
}
