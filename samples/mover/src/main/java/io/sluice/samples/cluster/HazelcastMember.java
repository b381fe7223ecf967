package io.sluice.samples.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import java.util.List;

/**
 * The settings of a member of Hazelcast's cluster: bound to one address, nothing by multicast, nothing sent to its maker, and
 * gone from the cluster soon after it stops answering.
 */
final class HazelcastMember {

    /** A member that is killed is missed at once, as its connections end; this is for one that hangs. */
    private static final String HEARTBEAT_SECONDS = "1";

    private static final String SILENCE_SECONDS = "15";

    private static final String LOGGING = "hazelcast.logging.type";
    private static final String WAIT = "hazelcast.wait.seconds.before.join";
    private static final String LOOKUP_SECONDS = "5";

    private HazelcastMember() {}

    static Config config(ClusterOptions options) {
        // What it says before it reads its settings goes to the log as well.
        System.setProperty(LOGGING, "slf4j");
        Config config = new Config();
        config.setClusterName(options.cluster());
        config.setProperty("hazelcast.phone.home.enabled", "false");
        // Vert.x takes it out of the cluster when it is closed.
        config.setProperty("hazelcast.shutdownhook.enabled", "false");
        config.setProperty("hazelcast.heartbeat.interval.seconds", HEARTBEAT_SECONDS);
        config.setProperty("hazelcast.max.no.heartbeat.seconds", SILENCE_SECONDS);
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
}
