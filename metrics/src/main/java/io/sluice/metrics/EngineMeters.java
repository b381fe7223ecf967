package io.sluice.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.TransferEngine;
import java.util.Locale;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * Exports an engine's figures to a Micrometer registry. Nothing is added to the path of a transfer: a registry reads the
 * pollers' own counters when it is scraped.
 *
 * <p>The gauges refer to the engine weakly, as Micrometer's do: keep the engine for as long as it is to be measured.
 */
public final class EngineMeters implements MeterBinder {
    private final EngineMetrics metrics;
    private final Tags common;

    /**
     * For one engine.
     *
     * @param engine to be measured
     * @param tags added to every meter, as the engine's name where a process has several; of few values
     */
    public EngineMeters(TransferEngine engine, Iterable<Tag> tags) {
        this.metrics = Objects.requireNonNull(engine, "engine").metrics();
        this.common = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Operation operation : Operation.values()) {
            for (Outcome outcome : Outcome.values()) {
                counter(
                        registry,
                        EngineMeter.OPERATIONS,
                        Tags.of("operation", lower(operation), "outcome", lower(outcome)),
                        figures -> figures.operations(operation, outcome));
            }
            counter(
                    registry,
                    EngineMeter.BYTES,
                    Tags.of("operation", lower(operation)),
                    figures -> figures.bytes(operation));
        }
        counter(
                registry,
                EngineMeter.SERVED_BYTES,
                Tags.of("operation", lower(Operation.WRITE)),
                EngineMetrics::servedWriteBytes);
        counter(
                registry,
                EngineMeter.SERVED_BYTES,
                Tags.of("operation", lower(Operation.READ)),
                EngineMetrics::servedReadBytes);
        counter(registry, EngineMeter.REFUSED, Tags.empty(), EngineMetrics::refused);
        gauge(
                registry,
                EngineMeter.IN_FLIGHT_OPERATIONS,
                figures -> figures.window().operations());
        gauge(
                registry,
                EngineMeter.IN_FLIGHT_OPERATIONS_LIMIT,
                figures -> figures.window().operationLimit());
        gauge(registry, EngineMeter.IN_FLIGHT_BYTES, figures -> figures.window().bytes());
        gauge(
                registry,
                EngineMeter.IN_FLIGHT_BYTES_LIMIT,
                figures -> figures.window().byteLimit());
        gauge(registry, EngineMeter.PENDING, EngineMetrics::pending);
        gauge(registry, EngineMeter.CONNECTIONS, EngineMetrics::connections);
        counter(registry, EngineMeter.CONNECTIONS_LOST, Tags.empty(), EngineMetrics::connectionsLost);
        gauge(registry, EngineMeter.REGIONS, EngineMetrics::regions);
        gauge(registry, EngineMeter.REGION_BYTES, EngineMetrics::regionBytes);
        gauge(registry, EngineMeter.LOCKED_BYTES, EngineMetrics::lockedBytes);
        counter(registry, EngineMeter.POLLS, Tags.of("found", "work"), EngineMetrics::busyPolls);
        counter(registry, EngineMeter.POLLS, Tags.of("found", "nothing"), EngineMetrics::emptyPolls);
        counter(registry, EngineMeter.STALLS, Tags.empty(), EngineMetrics::stalls);
    }

    private void counter(MeterRegistry registry, EngineMeter meter, Tags tags, ToDoubleFunction<EngineMetrics> value) {
        FunctionCounter.builder(meter.meterName(), metrics, value)
                .description(meter.description())
                .baseUnit(meter.unit())
                .tags(common.and(tags))
                .register(registry);
    }

    private void gauge(MeterRegistry registry, EngineMeter meter, ToDoubleFunction<EngineMetrics> value) {
        Gauge.builder(meter.meterName(), metrics, value)
                .description(meter.description())
                .baseUnit(meter.unit())
                .tags(common)
                .register(registry);
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
