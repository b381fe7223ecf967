package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.sluice.collectives.CollectiveKind;
import io.sluice.reactor.ReactiveTeam;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Observes collectives through Micrometer's Observation API, as {@link ObservedTransfers} does transfers: {@code
 * team.barrier().transform(observed.mono(team, CollectiveKind.BARRIER))}. Names and keys are those of {@link
 * CollectiveObservation} unless a convention changes them. Immutable and thread-safe.
 */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class ObservedCollectives {
    private final ObservationRegistry registry;
    private final @Nullable CollectiveObservationConvention convention;

    private ObservedCollectives(ObservationRegistry registry, @Nullable CollectiveObservationConvention convention) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.convention = convention;
    }

    /**
     * Observes with the names and keys of {@link CollectiveObservation}, or of the registry's convention if it has one.
     *
     * @param registry the registry with the handlers
     * @return an object that observes collectives in the registry
     */
    public static ObservedCollectives in(ObservationRegistry registry) {
        return new ObservedCollectives(registry, null);
    }

    /**
     * Returns one that uses a convention's names and keys.
     *
     * @param own the convention
     * @return a new object; this one is unchanged
     */
    public ObservedCollectives withConvention(CollectiveObservationConvention own) {
        return new ObservedCollectives(registry, Objects.requireNonNull(own, "own"));
    }

    /**
     * Returns a function for {@code transform} that observes each subscriber's collective.
     *
     * @param team the team that is called
     * @param kind the kind of collective
     * @param <T> the type of the result
     * @return the function
     */
    public <T> Function<Mono<T>, Mono<T>> mono(ReactiveTeam team, CollectiveKind kind) {
        Objects.requireNonNull(team, "team");
        Objects.requireNonNull(kind, "kind");
        return collective -> collective.tap(subscriber -> {
            CollectiveContext context = new CollectiveContext(team.team(), kind);
            Observation observation = Observation.createNotStarted(
                    convention, DefaultCollectiveObservationConvention.INSTANCE, () -> context, registry);
            return new ObservedSignals<>(subscriber, context.work(), observation);
        });
    }
}
