package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.ReactiveConnection;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Observes logical transfers: one observation for each subscriber, from its subscription to its terminal signal or
 * cancel. Each costs as much as the registry's handlers do, so use it for transfers that are worth a span, such as all
 * pages of a request but not each page.
 *
 * <pre>{@code
 * ObservedTransfers observed = ObservedTransfers.in(registry);
 * connection.write(source, remote, 0).transform(observed.mono(connection, Operation.WRITE))
 * }</pre>
 *
 * <p>The parent is the observation in the subscriber's Reactor context or, without one, the thread's current
 * observation. The operators of the transfer find the new observation in their context. Names and keys are those of
 * {@link TransferObservation} unless a convention changes them. Immutable and thread-safe.
 */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class ObservedTransfers {
    private final ObservationRegistry registry;
    private final @Nullable TransferObservationConvention convention;

    private ObservedTransfers(ObservationRegistry registry, @Nullable TransferObservationConvention convention) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.convention = convention;
    }

    /**
     * Observes with the names and keys of {@link TransferObservation}, or of the registry's convention if it has one.
     *
     * @param registry the registry with the handlers
     * @return an object that observes transfers in the registry
     */
    public static ObservedTransfers in(ObservationRegistry registry) {
        return new ObservedTransfers(registry, null);
    }

    /**
     * Returns one that uses a convention's names and keys.
     *
     * @param own the convention
     * @return a new object; this one is unchanged
     */
    public ObservedTransfers withConvention(TransferObservationConvention own) {
        return new ObservedTransfers(registry, Objects.requireNonNull(own, "own"));
    }

    /**
     * Returns a function for {@code transform} that observes a Mono. The observed bytes are those of its {@link
     * TransferResult}, if it emits one.
     *
     * @param connection the connection of the transfer
     * @param operation the kind of operation
     * @param <T> the type of the result
     * @return the function
     */
    public <T> Function<Mono<T>, Mono<T>> mono(ReactiveConnection connection, Operation operation) {
        Objects.requireNonNull(connection, "connection");
        Objects.requireNonNull(operation, "operation");
        return transfer -> transfer.tap(subscriber -> signals(subscriber, connection, operation));
    }

    /**
     * Returns a function for {@code transform} that observes a Flux, such as a vectored transfer, as one. The observed
     * bytes are those of all results without an error.
     *
     * @param connection the connection of the transfer
     * @param operation the kind of operation of its elements
     * @return the function
     */
    public Function<Flux<TransferResult>, Flux<TransferResult>> flux(
            ReactiveConnection connection, Operation operation) {
        Objects.requireNonNull(connection, "connection");
        Objects.requireNonNull(operation, "operation");
        return transfers -> transfers.tap(subscriber -> signals(subscriber, connection, operation));
    }

    private <T> ObservedSignals<T> signals(ContextView subscriber, ReactiveConnection connection, Operation operation) {
        TransferContext context = new TransferContext(connection.connection(), operation);
        Observation observation = Observation.createNotStarted(
                convention, DefaultTransferObservationConvention.INSTANCE, () -> context, registry);
        return new ObservedSignals<>(subscriber, context.work(), observation);
    }
}
