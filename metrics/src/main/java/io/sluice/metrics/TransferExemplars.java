package io.sluice.metrics;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.tracer.common.SpanContext;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.LatencyHistogram;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers a recent traced transfer for each bucket of the histogram of durations, so that a slow bucket leads to a
 * trace. It handles the observations of transfers; register it after the handler that starts spans, as a span must be
 * current in an observation's scope. Transfers without an observation, and spans that are not sampled, leave no
 * exemplar.
 *
 * <p>Prometheus requests exemplars only in the OpenMetrics format. Thread-safe.
 */
@SuppressWarnings("exports") // Who gives a registry of Prometheus requires its module; all others do without.
public final class TransferExemplars implements ObservationHandler<Observation.Context> {
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();
    private static final double NANOS_A_SECOND = 1e9;
    private static final String OBSERVATION = "sluice.transfer";

    private final SpanContext spans;
    private final Map<String, AtomicReferenceArray<@Nullable Exemplar>> byTransportAndOperation =
            new ConcurrentHashMap<>();

    /** The state of an observation while it lasts. */
    private static final class Traced {
        private final long startedAt = System.nanoTime();
        private volatile @Nullable String traceId;
        private volatile @Nullable String spanId;
    }

    /**
     * Creates exemplars of the observations named {@code sluice.transfer}.
     *
     * @param spans returns the current span
     */
    public TransferExemplars(SpanContext spans) {
        this.spans = Objects.requireNonNull(spans, "spans");
    }

    /** Supports all contexts, as an observation has its name only when it starts. */
    @Override
    public boolean supportsContext(Observation.Context context) {
        return true;
    }

    @Override
    public void onStart(Observation.Context context) {
        if (OBSERVATION.equals(context.getName())) {
            context.put(Traced.class, new Traced());
        }
    }

    @Override
    public void onScopeOpened(Observation.Context context) {
        Traced traced = context.get(Traced.class);
        if (traced != null && traced.traceId == null && spans.isCurrentSpanSampled()) {
            traced.spanId = spans.getCurrentSpanId();
            traced.traceId = spans.getCurrentTraceId();
            spans.markCurrentSpanAsExemplar();
        }
    }

    @Override
    public void onStop(Observation.Context context) {
        Traced traced = context.get(Traced.class);
        if (traced == null || !"success".equals(value(context, "outcome"))) {
            return;
        }
        String traceId = traced.traceId;
        String spanId = traced.spanId;
        if (traceId == null || spanId == null) {
            return;
        }
        long nanos = System.nanoTime() - traced.startedAt;
        int found = Arrays.binarySearch(BOUNDS, nanos);
        byTransportAndOperation
                .computeIfAbsent(
                        value(context, "transport") + "/" + value(context, "operation"),
                        any -> new AtomicReferenceArray<>(BOUNDS.length + 1))
                .set(
                        found < 0 ? -found - 1 : found,
                        Exemplar.builder()
                                .value(nanos / NANOS_A_SECOND)
                                .traceId(traceId)
                                .spanId(spanId)
                                .timestampMillis(System.currentTimeMillis())
                                .build());
    }

    private static @Nullable String value(Observation.Context context, String key) {
        KeyValue found = context.getLowCardinalityKeyValue(key);
        return found == null ? null : found.getValue();
    }

    List<Exemplar> of(String transport, Operation operation) {
        AtomicReferenceArray<@Nullable Exemplar> buckets =
                byTransportAndOperation.get(transport + "/" + operation.name().toLowerCase(Locale.ROOT));
        List<Exemplar> all = new ArrayList<>();
        for (int i = 0; buckets != null && i < buckets.length(); i++) {
            Exemplar exemplar = buckets.get(i);
            if (exemplar != null) {
                all.add(exemplar);
            }
        }
        return all;
    }
}
