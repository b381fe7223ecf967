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
 * A {@link Connection} with a reactive face: a reliable path to one peer engine, whose operations are {@code Mono} and
 * {@code Flux}.
 *
 * <p><strong>Lazy and cold.</strong> Nothing is submitted before a subscriber asks for the result. Each subscriber gets
 * its own transfer, so {@code retry()} and {@code repeat()} transfer again. What the engine refuses at the submission,
 * such as a range outside its region or {@link TooManyPendingException}, comes as {@code onError}.
 *
 * <p><strong>Cancel.</strong> After a cancel nothing more is emitted, and the transfer is told to end. Chunks that are
 * posted already may still touch the local memory: before reusing it after a cancel, time-out or error, wait for
 * {@link #quiesced()}.
 *
 * <p><strong>Threads.</strong> Signals come on the engine's poller threads, which must not block, or on the scheduler
 * of {@link #withScheduler}. All methods may be called from any thread. Instances are immutable and cost little;
 * several may wrap one connection.
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
     * Gives a connection a reactive face. Both faces may be used side by side.
     *
     * @param connection the connection
     * @return the same connection, with default options, signalling on the pollers
     */
    public static ReactiveConnection from(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new ReactiveConnection(connection, TransferOptions.defaults(), null, new SharedEnd(connection));
    }

    /**
     * The same connection with other options for the transfers and notifications that name none.
     *
     * @param transferOptions the options
     * @return a new face; this one is unchanged
     */
    public ReactiveConnection withOptions(TransferOptions transferOptions) {
        return new ReactiveConnection(connection, transferOptions, scheduler, end);
    }

    /**
     * The same connection with signals on a scheduler, so that subscribers may take their time. A Flux still asks for
     * no more than its subscriber does. If the scheduler is disposed, operations end with
     * {@link java.util.concurrent.RejectedExecutionException}.
     *
     * @param completions where results, completions and errors are signalled
     * @return a new face; this one is unchanged
     */
    public ReactiveConnection withScheduler(Scheduler completions) {
        return new ReactiveConnection(connection, options, Objects.requireNonNull(completions, "completions"), end);
    }

    /**
     * The connection itself.
     *
     * @return the connection behind this face
     */
    public Connection connection() {
        return connection;
    }

    /**
     * The ways to the peer's memory; {@link RemoteRegion#path()} tells which of them reaches a region.
     *
     * @return the most preferred first; never changes
     */
    public List<ConnectionPath> paths() {
        return connection.paths();
    }

    /**
     * Brings the transport's keys of a peer's region over. A region that has no taker, as it comes after a cancel or in the
     * moment of a time-out, is detached again; {@link ReactiveTransferEngine#connect} says how far that reaches.
     *
     * @param descriptor what the peer gave
     * @return the region; or {@link StaleDescriptorException}, {@link InvalidDescriptorException},
     *     {@link MemoryNotAccessibleException} if the connection's transport does not reach memory of the region's kind,
     *     {@link ConnectionLostException}
     */
    public Mono<RemoteRegion> attach(RegionDescriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return FutureMono.<RemoteRegion>ofResource("attach", () -> connection.attach(descriptor), scheduler)
                .doOnDiscard(RemoteRegion.class, this::giveBack);
    }

    /**
     * Attaches many regions at once. Those that have no taker are detached again, as for one region.
     *
     * @param descriptors what the peer gave; copied
     * @return the regions in the same order; if one cannot be attached, its error
     */
    public Mono<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors) {
        List<RegionDescriptor> copy = List.copyOf(descriptors);
        return FutureMono.<List<RemoteRegion>>ofResource("attach", () -> connection.attach(copy), scheduler)
                .doOnDiscard(List.class, this::giveBackAll);
    }

    /**
     * Gives up a remote region. Transfers that still use it are refused by the target.
     *
     * @param region attached on this connection
     * @return completes when the peer has dropped it
     */
    public Mono<Void> detach(RemoteRegion region) {
        Objects.requireNonNull(region, "region");
        return signalled(FutureMono.of("detach", () -> connection.detach(region)));
    }

    /**
     * Asks the peer for a region by name.
     *
     * @param name as the peer gave it to its region
     * @return the region's descriptor; or {@link RegionNotFoundException}, {@link ConnectionLostException}
     */
    public Mono<RegionDescriptor> lookup(String name) {
        Objects.requireNonNull(name, "name");
        return signalled(FutureMono.of("lookup", () -> connection.lookup(name)));
    }

    /**
     * Writes many elements; as {@link #writeVectored(Publisher)}. As many neighbours as demand and limit allow are one
     * transfer of the engine's, which costs less than one for each; so when the limit is reached, an eighth of it has to
     * be free again before more are submitted. With {@link TransferOptions#completeInto()} each is a transfer of its
     * own.
     *
     * @param elements copied
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.WRITE, elements, options, scheduler);
    }

    /**
     * Writes every element that a publisher gives, each with this face's options and a result of its own.
     *
     * <p><strong>Demand.</strong> The publisher is asked for no more elements than the subscriber asks results, and for
     * no more at a time than the connection's {@link InFlightWindow#operationLimit()} ahead of the results that were
     * emitted.
     *
     * <p><strong>Results</strong> come one at a time, in the order in which the elements end. They are numbered in the
     * publisher's order, from 0, and after 2<sup>31</sup> elements from 0 again. An element that fails, or is refused
     * at its submission with a {@link SluiceException}, gives a result with an error, and the others go on.
     *
     * <p><strong>End.</strong> After the last result comes the completion, or {@link ElementsFailedException} if any
     * element failed. If the publisher fails, or an element is a mistake ({@link IndexOutOfBoundsException},
     * {@link IllegalArgumentException}), what is in flight is cancelled and the Flux ends with that error. A cancel
     * cancels the publisher and what is in flight.
     *
     * <p>The publisher is asked, and so may run, on the threads that bring results.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.WRITE, elements, options, scheduler);
    }

    /**
     * Writes many elements, and those that failed again, as long as a retry specification allows.
     *
     * @param elements copied
     * @param spec when to retry; {@link OutcomeUnknownException} is never retried, see {@link FailedElements}
     * @return one result an element, as {@link FailedElements#retry(List, java.util.function.Function, Retry)} tells
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements, Retry spec) {
        return FailedElements.retry(elements, this::writeVectored, spec);
    }

    /**
     * Reads many elements; as {@link #writeVectored(List)}.
     *
     * @param elements copied
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.READ, elements, options, scheduler);
    }

    /**
     * Reads every element that a publisher gives; as {@link #writeVectored(Publisher)}.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements) {
        return VectoredTransferFlux.of(new ConnectionRoute(connection), Direction.READ, elements, options, scheduler);
    }

    /**
     * Reads many elements, and those that failed again, as long as a retry specification allows.
     *
     * @param elements copied
     * @param spec when to retry
     * @return one result an element, as {@link FailedElements#retry(List, java.util.function.Function, Retry)} tells
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements, Retry spec) {
        return FailedElements.retry(elements, this::readVectored, spec);
    }

    /**
     * Sends a message with this face's options; as {@link #notify(byte[], TransferOptions)}.
     *
     * @param payload copied
     * @return completes when the peer's engine holds the message
     */
    public Mono<Void> notify(byte[] payload) {
        return notify(payload, options);
    }

    /**
     * Sends a message that the peer sees after all writes that were submitted on this connection before it. It waits
     * for those writes, and for a credit of the receiver, so that a slow receiver delays it.
     *
     * @param payload copied; at most {@link Connection#maxNotificationBytes()}
     * @param transferOptions deadline and the like
     * @return completes when the peer's engine holds the message for its subscriber. Errors:
     *     {@link ConnectionLostException}, {@link io.sluice.engine.TransferTimeoutException},
     *     {@link TooManyPendingException}, {@link IllegalArgumentException} if the payload is too long
     */
    public Mono<Void> notify(byte[] payload, TransferOptions transferOptions) {
        return signalled(new NotificationMono(connection, payload, transferOptions).assembled())
                .then();
    }

    /**
     * The peer's notifications, those that came before the subscription first. Demand is passed on: what is not asked
     * for stays with the connection and delays the sender. One subscriber at a time; another meanwhile gets
     * {@link IllegalStateException}. After a cancel the next subscriber goes on with what was not delivered.
     *
     * @return completes when either side closes the connection; {@link ConnectionLostException} if the peer is lost
     */
    public Flux<byte[]> notifications() {
        return NotificationFlux.of(connection, scheduler);
    }

    /**
     * When the sources of everything that was submitted before the subscription may be reused. It reports no failure:
     * each transfer reports its own.
     *
     * @return completes when all writes, puts, signals and atomic operations that were submitted on this connection before
     *     have ended and none of them can touch local memory any more, also when the connection has ended
     */
    public Mono<Void> flush() {
        return signalled(FutureMono.of("flush", connection::flush));
    }

    /**
     * When all that was written before the subscription is visible to the target's code.
     *
     * @return completes when every write, put, signal and atomic operation that was submitted on this connection before
     *     and has succeeded is visible at the target; {@link ConnectionLostException} if the connection ends first
     */
    public Mono<Void> quiet() {
        return signalled(FutureMono.of("quiet", connection::quiet));
    }

    /**
     * Asks the peer's engine for the CRC-32C of what a range holds there when the question arrives, to compare with
     * {@link io.sluice.engine.MemoryRegion#checksum(long, long)}; see {@link Connection#checksum}. Each subscriber asks for
     * itself.
     *
     * @param region attached on this connection
     * @param offset where the range begins, in bytes
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; {@link io.sluice.engine.RemoteAccessException} if the peer refuses as it would refuse to be read
     *     from, {@link ConnectionLostException}; {@link IndexOutOfBoundsException} if the range leaves the region
     */
    public Mono<Long> checksum(RemoteRegion region, long offset, long length) {
        return signalled(FutureMono.of("checksum", () -> connection.checksum(region, offset, length)));
    }

    /**
     * When no transfer that has ended can touch memory any more; see {@link Transfer#quiesced()} for a single one.
     *
     * @return completes when the chunks of all transfers cancelled, timed out or failed until the subscription are done
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", connection::quiesced));
    }

    /**
     * The end of the connection, whichever side ends it. Any number may wait for it, one for each request if that is of use:
     * a cancelled one leaves nothing behind.
     *
     * @return completes if either side closes it; {@link ConnectionLostException} if the peer is lost
     */
    public Mono<Void> ended() {
        return signalled(end.mono());
    }

    /**
     * Closes the connection in order, when what is under way has ended; see {@link Connection#shutdown}.
     *
     * @param patience the most time for that, 0 or more
     * @return completes when it is closed and quiescent
     */
    public Mono<Void> shutdown(Duration patience) {
        Objects.requireNonNull(patience, "patience");
        return signalled(FutureMono.of("shutdown", () -> connection.shutdown(patience)));
    }

    /**
     * Closes the connection; see {@link Connection#close()}.
     *
     * @return completes when it is closed and quiescent
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", connection::close));
    }

    /** Names the peer and the connection. */
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
