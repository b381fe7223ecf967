package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import org.jspecify.annotations.Nullable;

/** The work of this engine that a comparison measures: transfers, collectives, experts, or the start of a program. */
sealed interface Workload permits Collectives, Experts, GpuCollectives, GpuExperts, ProgramStart, Transfers {
    String name();

    Route route();

    /** The transport, or {@code none}. */
    default String transport() {
        return route().transport();
    }

    String doing();

    /** Bytes of an element; 0 if there is none. */
    long size();

    /** Elements in flight on each connection; 0 if there are none. */
    int inflight();

    /** Why it cannot be measured here, or {@code null} if it can as far as is known. */
    default @Nullable String unavailable() {
        return route().unavailable();
    }

    Measurement measurement(Api api);
}
