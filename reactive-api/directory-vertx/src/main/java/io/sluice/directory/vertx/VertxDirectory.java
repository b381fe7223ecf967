package io.sluice.directory.vertx;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.vertx.core.Vertx;
import io.vertx.core.spi.cluster.ClusterManager;
import java.util.Objects;

/**
 * Directories in a clustered Vert.x: entries are shared data, and the event bus announces changes. An entry is alive
 * while the cluster node that published it belongs to the cluster and renews its lease; the entry of a killed process
 * is gone as soon as the cluster notices.
 *
 * <p>The cluster manager's maps must have a backup, as those of Hazelcast and Infinispan do by default. Otherwise
 * entries are lost with the node that holds them, until their engines' next beat.
 */
public final class VertxDirectory {
    /** The default prefix of the names of all maps and of the event bus address. */
    public static final String DEFAULT_NAMESPACE = "sluice.directory";

    private VertxDirectory() {}

    /**
     * Opens a directory over a clustered Vert.x.
     *
     * @param vertx stays open when the directory is closed
     * @param cluster the cluster manager of that Vert.x
     * @param options the directory's options
     * @return the directory; it sends nothing before its first use
     * @throws IllegalArgumentException if the Vert.x is not clustered
     */
    public static Directory over(Vertx vertx, ClusterManager cluster, DirectoryOptions options) {
        return over(vertx, cluster, DEFAULT_NAMESPACE, options);
    }

    /**
     * Opens a directory over a clustered Vert.x, separate from others in the cluster.
     *
     * @param vertx stays open when the directory is closed
     * @param cluster the cluster manager of that Vert.x
     * @param namespace the prefix of the names of all maps and of the event bus address
     * @param options the directory's options
     * @return the directory; it sends nothing before its first use
     * @throws IllegalArgumentException if the Vert.x is not clustered
     */
    public static Directory over(Vertx vertx, ClusterManager cluster, String namespace, DirectoryOptions options) {
        if (!vertx.isClustered()) {
            throw new IllegalArgumentException("this Vert.x is not clustered; see Directory.inProcess()");
        }
        return Directory.over(
                new VertxStore(
                        vertx,
                        Objects.requireNonNull(cluster, "cluster"),
                        Objects.requireNonNull(namespace, "namespace")),
                options);
    }
}
