package io.sluice.directory.vertx;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.vertx.core.Vertx;
import io.vertx.core.spi.cluster.ClusterManager;
import java.util.Objects;

/**
 * Directories in a clustered Vert.x: entries are shared data, and the event bus announces changes. An entry is alive as long
 * as the node of the cluster that published it belongs to the cluster and renews its lease; so one whose process is killed
 * is gone as soon as the cluster notices.
 *
 * <p>The cluster manager's maps must keep a backup, as Hazelcast's and Infinispan's do by default, or entries are lost with
 * the node that holds them until their engines' next beat.
 */
public final class VertxDirectory {
    /** The default prefix of the names of all maps and of the event bus address. */
    public static final String DEFAULT_NAMESPACE = "sluice.directory";

    private VertxDirectory() {}

    /**
     * A directory over a clustered Vert.x.
     *
     * @param vertx stays open when the directory is closed
     * @param cluster the cluster manager that it was built with
     * @param options times
     * @return the directory; nothing is sent before it is used
     * @throws IllegalArgumentException if the Vert.x is not clustered
     */
    public static Directory over(Vertx vertx, ClusterManager cluster, DirectoryOptions options) {
        return over(vertx, cluster, DEFAULT_NAMESPACE, options);
    }

    /**
     * A directory over a clustered Vert.x, apart from others there.
     *
     * @param vertx stays open when the directory is closed
     * @param cluster the cluster manager that it was built with
     * @param namespace what the names of all maps and the event bus address begin with
     * @param options times
     * @return the directory; nothing is sent before it is used
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
