package io.sluice.samples.compare;

/** Whether somebody watches the engine that is measured. */
enum Metrics {
    /** Nobody. */
    OFF,
    /** All its meters are bound to a Prometheus registry, which is scraped once a second. */
    SCRAPED
}
