import org.jspecify.annotations.NullMarked;

/** Exports an engine's figures through Micrometer. */
@NullMarked
module io.sluice.metrics {
    requires static transitive org.jspecify;
    requires transitive io.sluice.engine;
    requires transitive micrometer.core;

    exports io.sluice.metrics;
}
