package io.sluice.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Meters that are registered and removed together. Thread-safe. */
final class RegisteredMeters {
    private final WeakReference<MeterRegistry> registry;
    private final List<Meter.Id> ids = new ArrayList<>();
    private boolean removed;

    RegisteredMeters(MeterRegistry registry) {
        this.registry = new WeakReference<>(registry);
    }

    /** Returns another group in the same registry, which is removed separately. */
    RegisteredMeters others() {
        MeterRegistry there = registry.get();
        if (there == null) {
            throw new IllegalStateException("the registry is gone");
        }
        return new RegisteredMeters(there);
    }

    <T> void counter(ExportedMeter meter, Tags tags, T read, ToDoubleFunction<T> value) {
        register(FunctionCounter.builder(meter.meterName(), read, value)
                .description(meter.description())
                .baseUnit(meter.unit().isEmpty() ? null : meter.unit())
                .tags(tags)::register);
    }

    <T> void gauge(ExportedMeter meter, Tags tags, T read, ToDoubleFunction<T> value) {
        register(Gauge.builder(meter.meterName(), read, value)
                .description(meter.description())
                .baseUnit(meter.unit().isEmpty() ? null : meter.unit())
                .tags(tags)::register);
    }

    /** Registers a gauge that holds what it reads. */
    void gauge(ExportedMeter meter, Tags tags, Supplier<Number> value) {
        register(Gauge.builder(meter.meterName(), value)
                .description(meter.description())
                .tags(tags)::register);
    }

    <T> void timer(ExportedMeter meter, Tags tags, T read, ToLongFunction<T> count, ToDoubleFunction<T> nanos) {
        register(FunctionTimer.builder(meter.meterName(), read, count, nanos, TimeUnit.NANOSECONDS)
                .description(meter.description())
                .tags(tags)::register);
    }

    synchronized void register(Function<MeterRegistry, Meter> registration) {
        MeterRegistry there = registry.get();
        if (there != null && !removed) {
            ids.add(registration.apply(there).getId());
        }
    }

    synchronized void removeAll() {
        removed = true;
        MeterRegistry there = registry.get();
        if (there != null) {
            ids.forEach(there::remove);
        }
        ids.clear();
    }
}
