package io.sluice.directory.vertx;

import com.hazelcast.config.Config;
import io.sluice.testkit.Patience;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A member of a cluster of Vert.x instances on loopback, found by its ports. */
record Member(Vertx vertx, HazelcastClusterManager cluster) implements AutoCloseable {
    /** The first one listens on the port, which all know; the others on one that is free. */
    static Member join(int port, boolean isFirst) throws Exception {
        Config config = new Config();
        config.setClusterName("sluice-test-" + port);
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "slf4j");
        config.setProperty("hazelcast.shutdownhook.enabled", "false");
        // or the interfaces below only say which address it announces
        config.setProperty("hazelcast.socket.bind.any", "false");
        config.setProperty("hazelcast.wait.seconds.before.join", "0");
        config.getNetworkConfig().setPort(port).setPortAutoIncrement(!isFirst).setPortCount(100);
        config.getNetworkConfig().getInterfaces().setEnabled(true).setInterfaces(List.of("127.0.0.1"));
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getTcpIpConfig().setEnabled(true).setMembers(List.of("127.0.0.1:" + port));
        HazelcastClusterManager cluster = new HazelcastClusterManager(config);
        VertxOptions options = new VertxOptions();
        options.getEventBusOptions().setHost("127.0.0.1");
        Vertx vertx = Vertx.builder()
                .with(options)
                .withClusterManager(cluster)
                .buildClustered()
                .toCompletionStage()
                .toCompletableFuture()
                .get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        return new Member(vertx, cluster);
    }

    @Override
    public void close() {
        vertx.close()
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)
                .join();
    }
}
