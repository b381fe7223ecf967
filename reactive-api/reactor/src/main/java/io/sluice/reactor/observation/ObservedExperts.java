package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.sluice.experts.ExpertCallKind;
import io.sluice.reactor.ReactiveExpertBuffer;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Observes calls on expert buffers through Micrometer's Observation API, as {@link ObservedCollectives} does collectives:
 * {@code buffer.combine(…).transform(observed.mono(buffer, ExpertCallKind.COMBINE))}. Of a call with a hook both halves can
 * be observed. Names and keys are those of {@link ExpertObservation} unless a convention changes them. Immutable and
 * thread-safe.
 */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class ObservedExperts {
    private final ObservationRegistry registry;
    private final @Nullable ExpertObservationConvention convention;

    private ObservedExperts(ObservationRegistry registry, @Nullable ExpertObservationConvention convention) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.convention = convention;
    }

    /**
     * Observes with the names and keys of {@link ExpertObservation}, or of the registry's convention if it has one.
     *
     * @param registry the registry with the handlers
     * @return an object that observes calls in the registry
     */
    public static ObservedExperts in(ObservationRegistry registry) {
        return new ObservedExperts(registry, null);
    }

    /**
     * Returns one that uses a convention's names and keys.
     *
     * @param own the convention
     * @return a new object; this one is unchanged
     */
    public ObservedExperts withConvention(ExpertObservationConvention own) {
        return new ObservedExperts(registry, Objects.requireNonNull(own, "own"));
    }

    /**
     * Returns a function for {@code transform} that observes each subscriber's call.
     *
     * @param buffer the buffer that is called
     * @param kind the kind of call
     * @param <T> the type of the result
     * @return the function
     */
    public <T> Function<Mono<T>, Mono<T>> mono(ReactiveExpertBuffer buffer, ExpertCallKind kind) {
        Objects.requireNonNull(buffer, "buffer");
        Objects.requireNonNull(kind, "kind");
        return call -> call.tap(subscriber -> {
            ExpertContext context = new ExpertContext(buffer.buffer(), kind);
            Observation observation = Observation.createNotStarted(
                    convention, DefaultExpertObservationConvention.INSTANCE, () -> context, registry);
            return new ObservedSignals<>(subscriber, context.work(), observation);
        });
    }
}
