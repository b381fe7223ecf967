import org.jspecify.annotations.NullMarked;

/** Transfers as futures and streams of Vert.x. */
@NullMarked
module io.sluice.vertx {
    requires static transitive org.jspecify;
    requires transitive io.sluice.engine;
    requires transitive io.vertx.core;
    requires org.slf4j;
    // only with collectives
    requires static io.sluice.collectives;
    // only with experts
    requires static io.sluice.experts;
    // only with either of them on GPUs
    requires static io.sluice.collectives.cuda;
    requires static io.sluice.experts.cuda;
    // only to export metrics
    requires static io.sluice.metrics;
    requires static micrometer.core;

    exports io.sluice.vertx;
}
