package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * A {@link Connection} with a reactive interface: its operations are {@code Mono} and {@code Flux}.
 *
 * <p><strong>Lazy and cold.</strong> Nothing is submitted before a subscriber requests the result. Each subscriber gets
 * its own transfer, so {@code retry()} and {@code repeat()} transfer again. Errors at submission, such as a range
 * outside its region or {@link TooManyPendingException}, are signalled by {@code onError}.
 *
 * <p><strong>Cancel.</strong> After a cancel nothing more is emitted, and the transfer is cancelled. Posted chunks may
 * still touch the local memory: before reusing it after a cancel, time-out or error, wait for {@link #quiesced()}.
 *
 * <p><strong>Threads.</strong> Signals arrive on the engine's poller threads, which must not block, or on the scheduler
 * of {@link #withScheduler}. All methods may be called from any thread. Instances are immutable and cheap; several may
 * wrap one connection.
 */
public final class ReactiveConnection extends ReactiveTransfers {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final SharedEnd end;

    private ReactiveConnection(
            Connection connection, TransferOptions options, @Nullable Scheduler scheduler, SharedEnd end) {
        super(connection, options, scheduler);
        this.end = end;
    }

    /**
     * Wraps a connection. Both interfaces may be used side by side.
     *
     * @param connection the connection
     * @return the wrapper, with default options and signals on the pollers
     */
    public static ReactiveConnection from(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new ReactiveConnection(connection, TransferOptions.defaults(), null, new SharedEnd(connection));
    }

    /**
     * Returns a wrapper with other options for the transfers and notifications that are called without any.
     *
     * @param transferOptions the options
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveConnection withOptions(TransferOptions transferOptions) {
        return new ReactiveConnection(connection, transferOptions, scheduler, end);
    }

    /**
     * Returns a wrapper that signals on a scheduler, so that subscribers may block or take long. A Flux still requests
     * no more than its subscriber does. If the scheduler is disposed, operations end with {@link
     * java.util.concurrent.RejectedExecutionException}.
     *
     * @param completions the scheduler that signals results, completions and errors
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveConnection withScheduler(Scheduler completions) {
        return new ReactiveConnection(connection, options, Objects.requireNonNull(completions, "completions"), end);
    }

    /**
     * Returns the wrapped connection.
     *
     * @return the connection
     */
    public Connection connection() {
        return connection;
    }

    /**
     * Returns the paths to the peer's memory; {@link RemoteRegion#path()} tells which of them reaches a region.
     *
     * @return the most preferred first; never changes
     */
    public List<ConnectionPath> paths() {
        return connection.paths();
    }

    /**
     * Attaches a peer's region. A region that no subscriber takes, because it arrives after a cancel or during a
     * time-out, is detached again; {@link ReactiveTransferEngine#connect} describes the limits of that.
     *
     * @param descriptor the descriptor received from the peer
     * @return the region; or {@link StaleDescriptorException}, {@link InvalidDescriptorException}, {@link
     *     MemoryNotAccessibleException} if none of the connection's paths reaches the region, {@link
     *     ConnectionLostException}
     */
    public Mono<RemoteRegion> attach(RegionDescriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return FutureMono.<RemoteRegion>ofResource("attach", () -> connection.attach(descriptor), scheduler)
                .doOnDiscard(RemoteRegion.class, this::giveBack);
    }

    /**
     * Attaches many regions at once. Regions that no subscriber takes are detached again, as for one region.
     *
     * @param descriptors the descriptors received from the peer; copied
     * @return the regions in the same order; if one cannot be attached, its error
     */
    public Mono<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors) {
        List<RegionDescriptor> copy = List.copyOf(descriptors);
        return FutureMono.<List<RemoteRegion>>ofResource("attach", () -> connection.attach(copy), scheduler)
                .doOnDiscard(List.class, this::giveBackAll);
    }

    /**
     * Detaches a remote region. The target refuses transfers that still use it.
     *
     * @param region attached on this connection
     * @return completes when the peer has released it
     */
    public Mono<Void> detach(RemoteRegion region) {
        Objects.requireNonNull(region, "region");
        return signalled(FutureMono.of("detach", () -> connection.detach(region)));
    }

    /**
     * Looks up a region of the peer by name.
     *
     * @param name the name that the peer gave its region
     * @return the region's descriptor; or {@link RegionNotFoundException}, {@link ConnectionLostException}
     */
    public Mono<RegionDescriptor> lookup(String name) {
        Objects.requireNonNull(name, "name");
        return signalled(FutureMono.of("lookup", () -> connection.lookup(name)));
    }

    /**
     * Writes many elements, as {@link #writeVectored(Publisher)} does. As many neighbours as demand and limit allow
     * share one transfer of the engine, which costs less than one transfer each. Therefore, once the limit is reached,
     * an eighth of it must be free before more are submitted. With {@link TransferOptions#completeInto()} each element
     * is a transfer of its own.
     *
     * @param elements copied
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.WRITE, elements, options, scheduler);
    }

    /**
     * Writes each element that a publisher emits, with the options of this object and a result for each.
     *
     * <p><strong>Demand.</strong> No more elements are requested from the publisher than the subscriber requests
     * results, and at most the connection's {@link InFlightWindow#operationLimit()} ahead of the emitted results.
     *
     * <p><strong>Results</strong> arrive one at a time, in the order in which the elements end. They are numbered in
     * the publisher's order, from 0, and after 2<sup>31</sup> elements from 0 again. An element that fails, or is
     * refused at submission with a {@link SluiceException}, has a result with an error, and the others continue.
     *
     * <p><strong>End.</strong> After the last result the Flux completes, or fails with {@link ElementsFailedException}
     * if any element failed. If the publisher fails, or an element is invalid ({@link IndexOutOfBoundsException},
     * {@link IllegalArgumentException}), the elements in flight are cancelled and the Flux ends with that error. A
     * cancel cancels the publisher and the elements in flight.
     *
     * <p>Elements are requested on the threads that deliver results, so the publisher may run there.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.WRITE, elements, options, scheduler);
    }

    /**
     * Writes many elements, and retries those that failed as a retry specification allows.
     *
     * @param elements copied
     * @param spec when to retry; {@link OutcomeUnknownException} is never retried, see {@link FailedElements}
     * @return one result for each element, as {@link FailedElements#retry(List, java.util.function.Function, Retry)}
     *     describes
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements, Retry spec) {
        return FailedElements.retry(elements, this::writeVectored, spec);
    }

    /**
     * Reads many elements, as {@link #writeVectored(List)} writes them.
     *
     * @param elements copied
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.READ, elements, options, scheduler);
    }

    /**
     * Reads each element that a publisher emits, as {@link #writeVectored(Publisher)} writes them.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.READ, elements, options, scheduler);
    }

    /**
     * Reads many elements, and retries those that failed as a retry specification allows.
     *
     * @param elements copied
     * @param spec when to retry
     * @return one result for each element, as {@link FailedElements#retry(List, java.util.function.Function, Retry)}
     *     describes
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements, Retry spec) {
        return FailedElements.retry(elements, this::readVectored, spec);
    }

    /**
     * Sends a message with the options of this object, as {@link #notify(byte[], TransferOptions)} does.
     *
     * @param payload copied
     * @return completes when the peer's engine holds the message
     */
    public Mono<Void> notify(byte[] payload) {
        return notify(payload, options);
    }

    /**
     * Sends a message that the peer sees after all writes submitted earlier on this connection. It waits for those
     * writes and for a credit from the receiver, so a slow receiver delays it.
     *
     * @param payload copied; at most {@link Connection#maxNotificationBytes()}
     * @param transferOptions deadline and priority
     * @return completes when the peer's engine holds the message for its subscriber. Errors: {@link
     *     ConnectionLostException}, {@link io.sluice.engine.TransferTimeoutException}, {@link TooManyPendingException},
     *     {@link IllegalArgumentException} if the payload is too long
     */
    public Mono<Void> notify(byte[] payload, TransferOptions transferOptions) {
        return signalled(new NotificationMono(connection, payload, transferOptions).assembled())
                .then();
    }

    /**
     * Returns the peer's notifications, beginning with those that arrived before the subscription. Notifications that
     * are not requested stay with the connection and delay the sender. There may be one subscriber at a time; another
     * one meanwhile gets {@link IllegalStateException}. After a cancel the next subscriber receives the notifications
     * that were not delivered.
     *
     * @return completes when either side closes the connection; {@link ConnectionLostException} if the peer is lost
     */
    public Flux<byte[]> notifications() {
        return NotificationFlux.of(connection, scheduler);
    }

    /**
     * Waits until the sources of all operations submitted before the subscription may be reused. It reports no failures
     * of transfers: each reports its own.
     *
     * @return completes when all writes, puts, signals and atomic operations submitted earlier on this connection have
     *     ended and none can touch local memory any more, even if the connection has ended
     */
    public Mono<Void> flush() {
        return signalled(FutureMono.of("flush", connection::flush));
    }

    /**
     * Waits until everything written before the subscription is visible to the target's code.
     *
     * @return completes when every successful write, put, signal and atomic operation submitted earlier on this
     *     connection is visible at the target; {@link ConnectionLostException} if the connection ends first
     */
    public Mono<Void> quiet() {
        return signalled(FutureMono.of("quiet", connection::quiet));
    }

    /**
     * Asks the peer's engine for the CRC-32C of a range of its memory, to compare with {@link
     * io.sluice.engine.MemoryRegion#checksum(long, long)}; see {@link Connection#checksum}. Each subscriber sends a
     * request.
     *
     * @param region attached on this connection
     * @param offset the start of the range, in bytes
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; {@link io.sluice.engine.RemoteAccessException} if the peer would refuse a read of the
     *     range, {@link ConnectionLostException}; {@link IndexOutOfBoundsException} if the range leaves the region
     */
    public Mono<Long> checksum(RemoteRegion region, long offset, long length) {
        return signalled(FutureMono.of("checksum", () -> connection.checksum(region, offset, length)));
    }

    /**
     * Waits until no ended transfer can touch memory any more; see {@link Transfer#quiesced()} for a single transfer.
     *
     * @return completes when the chunks of all transfers that were cancelled, timed out or failed before the
     *     subscription are done
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", connection::quiesced));
    }

    /**
     * Waits for the end of the connection. It may have any number of subscribers, such as one for each request; a
     * cancelled one leaves nothing behind.
     *
     * @return completes if either side closes it; {@link ConnectionLostException} if the peer is lost
     */
    public Mono<Void> ended() {
        return signalled(end.mono());
    }

    /**
     * Closes the connection gracefully, after the transfers in flight have ended; see {@link Connection#shutdown}.
     *
     * @param patience the longest time to wait for them, 0 or more
     * @return completes when the connection is closed and quiescent
     */
    public Mono<Void> shutdown(Duration patience) {
        Objects.requireNonNull(patience, "patience");
        return signalled(FutureMono.of("shutdown", () -> connection.shutdown(patience)));
    }

    /**
     * Closes the connection; see {@link Connection#close()}.
     *
     * @return completes when the connection is closed and quiescent
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", connection::close));
    }

    /** Returns the connection's number and peer. */
    @Override
    public String toString() {
        return "ReactiveConnection[" + connection.id() + " to " + connection.peer() + "]";
    }

    private void giveBack(RemoteRegion unwanted) {
        connection.detach(unwanted);
    }

    private void giveBackAll(List<?> unwanted) {
        for (Object region : unwanted) {
            giveBack((RemoteRegion) region);
        }
    }
}
