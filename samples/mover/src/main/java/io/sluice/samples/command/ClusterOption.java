package io.sluice.samples.command;

import io.sluice.engine.HostAndPort;
import io.sluice.samples.cluster.ClusterMember.ClusterOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a command that can be a member of a cluster. */
final class ClusterOption {

    /** A package leaves it out, as it is large. */
    private static final String HAZELCAST = "/com/hazelcast/config/Config.class";

    @Option(
            names = "--cluster",
            paramLabel = "HOST:PORT",
            description = {
                "Find the other movers in a clustered Vert.x, of which this one is a member; it listens there, and the"
                        + " others reach it there.",
                "Its members trust each other and are not asked who they are: name another host than loopback only in a"
                        + " network that you trust. Default: no cluster."
            })
    private @Nullable HostAndPort listen;

    @Option(names = "--cluster-members", paramLabel = "HOST:PORT", split = ",")
    private List<HostAndPort> members = new ArrayList<>();

    @Option(names = "--cluster-service", paramLabel = "HOST:PORT")
    private @Nullable HostAndPort service;

    @Option(names = "--cluster-name", paramLabel = "NAME", defaultValue = ClusterOptions.DEFAULT_CLUSTER)
    private String name = ClusterOptions.DEFAULT_CLUSTER;

    @Option(names = "--event-bus-port", paramLabel = "PORT", defaultValue = "0")
    private int eventBusPort;

    /**
     * Returns the cluster that the options name; {@code null} for no cluster.
     *
     * @throws CommandFailure if they do not fit together, or this program has no Hazelcast
     */
    @Nullable
    ClusterOptions options() {
        if (listen == null) {
            ProgramCommand.require(
                    members.isEmpty() && service == null,
                    "--cluster-members and --cluster-service take --cluster, too");
            return null;
        }
        if (ClusterOption.class.getResource(HAZELCAST) == null) {
            throw CommandFailure.failed(
                    "--cluster: there is no Hazelcast here. Copy the jars of hazelcast and vertx-hazelcast"
                            + " from samples/target/lib of a checkout that has been built into the folder lib of this package");
        }
        if (service != null && !members.isEmpty()) {
            throw CommandFailure.usage("give --cluster-members or --cluster-service, not both");
        }
        try {
            return new ClusterOptions(
                    name,
                    listen.host(),
                    listen.port(),
                    eventBusPort,
                    members.stream().map(HostAndPort::toString).toList(),
                    service == null ? null : service.host(),
                    service == null ? listen.port() : service.port());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--cluster: " + e.getMessage());
        }
    }
}
