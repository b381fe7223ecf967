package io.sluice.samples.cluster;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.vertx.VertxDirectory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

/**
 * A Vert.x instance that is a member of a cluster.
 *
 * @param vertx whoever closes it leaves the cluster
 * @param cluster its cluster manager
 */
public record ClusterMember(Vertx vertx, HazelcastClusterManager cluster) {

    /**
     * Joins a cluster, or begins one if there is no other member yet.
     *
     * @param options where it listens, and how it finds the others; they override what the Vert.x options say of the event
     *     bus' address
     * @param vertxOptions of the Vert.x instance
     * @param builder what else it is built with, such as metrics
     * @return the member; it fails if an address cannot be bound
     */
    public static Future<ClusterMember> join(ClusterOptions options, VertxOptions vertxOptions, VertxBuilder builder) {
        HazelcastClusterManager cluster = new HazelcastClusterManager(HazelcastMember.config(options));
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
     * @param options times
     * @return closed before Vert.x is
     */
    public Directory directory(DirectoryOptions options) {
        return VertxDirectory.over(vertx, cluster, options);
    }
}
