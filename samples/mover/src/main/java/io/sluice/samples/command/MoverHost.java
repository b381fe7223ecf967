package io.sluice.samples.command;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.samples.cluster.ClusterMember;
import io.sluice.samples.cluster.ClusterMember.ClusterOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import org.jspecify.annotations.Nullable;

/** What movers are deployed on: a Vert.x instance, alone or in a cluster, and the directory that goes with it. */
record MoverHost(Vertx vertx, Directory directory) {
    /**
     * Makes one.
     *
     * @param cluster to join; {@code null} to stay alone
     * @param registry the name of the registry of metrics; {@code null} for no metrics
     * @return fails if an address of the cluster's cannot be bound
     */
    static Future<MoverHost> open(@Nullable ClusterOptions cluster, @Nullable String registry) {
        VertxBuilder builder = Vertx.builder();
        VertxOptions options = new VertxOptions();
        if (registry != null) {
            options.setMetricsOptions(new MicrometerMetricsOptions()
                    .setEnabled(true)
                    .setRegistryName(registry)
                    .setJvmMetricsEnabled(true));
            builder.withMetrics(new MicrometerMetricsFactory(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
        }
        return cluster == null
                ? Future.succeededFuture(new MoverHost(builder.with(options).build(), Directory.inProcess()))
                : ClusterMember.join(cluster, options, builder)
                        .map(member -> new MoverHost(member.vertx(), member.directory(DirectoryOptions.defaults())));
    }

    /** Closes both. What is deployed should have gone by then, as it could not tell the directory any more. */
    Future<Void> close() {
        return Future.fromCompletionStage(directory.close().toFuture())
                .otherwiseEmpty()
                .compose(closed -> vertx.close());
    }
}
