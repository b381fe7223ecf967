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

/**
 * Observes logical transfers, one observation for each subscriber, from its subscription to its terminal signal or cancel. It costs
 * what the registry's handlers cost, for each transfer, so use it for transfers that are worth a span: a request's pages,
 * not each page.
 *
 * <pre>{@code
 * ObservedTransfers observed = ObservedTransfers.in(registry);
 * connection.write(source, remote, 0).transform(observed.mono(connection, Operation.WRITE))
 * }</pre>
 *
 * <p>The parent is the observation in the subscriber's Reactor context, or without one the thread's current one; the new one is in
 * the context that the transfer's own operators see. Names and keys are {@link TransferObservation}'s; a convention changes
 * them. Immutable; any thread.
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
     * With the names and keys of {@link TransferObservation}, or those of a convention that the registry has.
     *
     * @param registry with the handlers
     * @return what observes
     */
    public static ObservedTransfers in(ObservationRegistry registry) {
        return new ObservedTransfers(registry, null);
    }

    /**
     * The same with names and keys of one's own.
     *
     * @param own the convention
     * @return another one; this one is unchanged
     */
    public ObservedTransfers withConvention(TransferObservationConvention own) {
        return new ObservedTransfers(registry, Objects.requireNonNull(own, "own"));
    }

    /**
     * Observes a Mono, for its {@code transform}. The bytes are those of its {@link TransferResult}, if it has one.
     *
     * @param connection that it uses
     * @param operation what it does
     * @param <T> what it gives
     * @return makes an observed one of a plain one
     */
    public <T> Function<Mono<T>, Mono<T>> mono(ReactiveConnection connection, Operation operation) {
        Objects.requireNonNull(connection, "connection");
        Objects.requireNonNull(operation, "operation");
        return transfer -> transfer.tap(context -> new ObservedSignals<>(context, observation(connection, operation)));
    }

    /**
     * Observes a Flux, such as a vectored transfer, as one; for its {@code transform}. The bytes are those of all results without
     * an error.
     *
     * @param connection that it uses
     * @param operation what its elements do
     * @return makes an observed one of a plain one
     */
    public Function<Flux<TransferResult>, Flux<TransferResult>> flux(
            ReactiveConnection connection, Operation operation) {
        Objects.requireNonNull(connection, "connection");
        Objects.requireNonNull(operation, "operation");
        return transfers ->
                transfers.tap(context -> new ObservedSignals<>(context, observation(connection, operation)));
    }

    private Observed observation(ReactiveConnection connection, Operation operation) {
        TransferContext context = new TransferContext(connection.connection(), operation);
        return new Observed(
                context,
                Observation.createNotStarted(
                        convention, DefaultTransferObservationConvention.INSTANCE, () -> context, registry));
    }

    /** An observation and its context. */
    record Observed(TransferContext context, Observation observation) {}
}
