/** Transfers as {@code Mono} and {@code Flux}. */
module io.sluice.reactor {
    requires static org.jspecify;
    requires transitive io.sluice.engine;
    requires transitive org.reactivestreams;
    requires transitive reactor.core;

    exports io.sluice.reactor;
}
