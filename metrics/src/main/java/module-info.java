import org.jspecify.annotations.NullMarked;

/** Exports an engine's metrics to Micrometer and the Flight Recorder. */
@NullMarked
module io.sluice.metrics {
    requires static transitive org.jspecify;
    requires transitive io.sluice.engine;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires micrometer.commons;
    requires jdk.jfr;
    // Needed only with collectives.
    requires static io.sluice.collectives;
    // Needed only with experts.
    requires static io.sluice.experts;
    // Needed only with either of them on GPUs.
    requires static io.sluice.collectives.cuda;
    requires static io.sluice.experts.cuda;
    // Needed only with a Prometheus registry. Not transitive, or all other users would need them to compile.
    requires static micrometer.registry.prometheus;
    requires static io.prometheus.metrics.tracer.common;
    requires static io.prometheus.metrics.model;

    exports io.sluice.metrics;
}
