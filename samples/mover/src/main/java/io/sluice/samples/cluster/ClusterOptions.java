package io.sluice.samples.cluster;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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

    /** Checks the ranges. */
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

    /** Members that are named one by one. */
    public static ClusterOptions ofMembers(
            String cluster, String host, int port, int eventBusPort, List<String> members) {
        return new ClusterOptions(cluster, host, port, eventBusPort, members, null, port);
    }

    /** Members that one name stands for. */
    public static ClusterOptions ofService(
            String cluster, String host, int port, int eventBusPort, String service, int servicePort) {
        return new ClusterOptions(cluster, host, port, eventBusPort, List.of(), service, servicePort);
    }
}
