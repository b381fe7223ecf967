package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
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
public final class ReactiveConnection {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final Connection connection;
    private final TransferOptions options;
    private final @Nullable Scheduler scheduler;
    private final SharedEnd end;

    private ReactiveConnection(
            Connection connection, TransferOptions options, @Nullable Scheduler scheduler, SharedEnd end) {
        this.connection = connection;
        this.options = Objects.requireNonNull(options, "options");
        this.scheduler = scheduler;
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
     * Writes a whole region or slice into the peer's region.
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     * @return as {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> write(MemoryRegion source, RemoteRegion target, long targetOffset) {
        return write(source, 0, target, targetOffset, source.length());
    }

    /**
     * Writes into the peer's region with this face's options.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @return as {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> write(
            MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return write(local, localOffset, remote, remoteOffset, length, options);
    }

    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param transferOptions deadline and the like
     * @return the result of a success, which means what {@link Connection#write} says of it. Errors, all as
     *     {@code onError}: {@link RemoteAccessException}, {@link io.sluice.engine.TransferTimeoutException},
     *     {@link io.sluice.engine.RegionClosedException}, {@link OutcomeUnknownException},
     *     {@link ConnectionLostException}, {@link TooManyPendingException}, {@link IndexOutOfBoundsException} if a
     *     range leaves its region, {@link IllegalArgumentException} if a region belongs elsewhere
     */
    public Mono<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return transfer(Direction.WRITE, local, localOffset, remote, remoteOffset, length, transferOptions);
    }

    /**
     * Fills a whole region or slice from the peer's region.
     *
     * @param target all its bytes are overwritten
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     * @return as {@link #read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> read(MemoryRegion target, RemoteRegion source, long sourceOffset) {
        return read(target, 0, source, sourceOffset, target.length());
    }

    /**
     * Reads from the peer's region with this face's options.
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @return as {@link #read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> read(
            MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return read(local, localOffset, remote, remoteOffset, length, options);
    }

    /**
     * Reads from the peer's region.
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param transferOptions deadline and the like
     * @return the result of a success: the bytes are final. Errors as for
     *     {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}, without
     *     {@link OutcomeUnknownException}
     */
    public Mono<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return transfer(Direction.READ, local, localOffset, remote, remoteOffset, length, transferOptions);
    }

    /**
     * Writes many pages of one size as one transfer with this face's options, by their numbers, as a block table has them: page n of a
     * region begins at n × pageBytes. It takes one credit for each chunk, and not for each page. The order in which pages are moved
     * is undefined, also of those with the same target.
     *
     * @param local the source
     * @param localPages numbers of the pages in it, one or more; copied
     * @param remote the target, attached on this connection
     * @param remotePages numbers of the pages in it, as many; copied. Page i of one list goes to page i of the other
     * @param pageBytes how long a page is, 1 or more
     * @return the result of a success. Errors as for
     *     {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}, but as
     *     the cause of a {@link PagesFailedException}, which names the pages that failed, once pages have been submitted
     */
    public Mono<TransferResult> writePages(
            MemoryRegion local, int[] localPages, RemoteRegion remote, int[] remotePages, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        int[] here = localPages.clone();
        int[] there = remotePages.clone();
        TransferOptions with = options;
        return operation(
                "writePages",
                here.length * pageBytes,
                callback -> connection.writePages(
                        local,
                        here,
                        remote,
                        there,
                        pageBytes,
                        with,
                        (transfer, failed, error) ->
                                callback.terminated(transfer, PagesFailedException.of(failed, here.length, error))));
    }

    /**
     * As {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long)}, by the pages' offsets.
     *
     * @param local the source
     * @param localOffsets where the pages begin in it, in bytes, one or more; copied
     * @param remote the target, attached on this connection
     * @param remoteOffsets where they begin in it, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @return as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long)}
     */
    public Mono<TransferResult> writePages(
            MemoryRegion local, long[] localOffsets, RemoteRegion remote, long[] remoteOffsets, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        long[] here = localOffsets.clone();
        long[] there = remoteOffsets.clone();
        TransferOptions with = options;
        return operation(
                "writePages",
                here.length * pageBytes,
                callback -> connection.writePages(
                        local,
                        here,
                        remote,
                        there,
                        pageBytes,
                        with,
                        (transfer, failed, error) ->
                                callback.terminated(transfer, PagesFailedException.of(failed, here.length, error))));
    }

    /**
     * Reads many pages of one size as one transfer with this face's options, by their numbers, as a block table has them: page n of a
     * region begins at n × pageBytes. It takes one credit for each chunk, and not for each page. The order in which pages are moved
     * is undefined, also of those with the same target.
     *
     * @param local the target
     * @param localPages numbers of the pages in it, one or more; copied
     * @param remote the source, attached on this connection
     * @param remotePages numbers of the pages in it, as many; copied. Page i of one list comes from page i of the other
     * @param pageBytes how long a page is, 1 or more
     * @return the result of a success: the bytes are final. Errors as for
     *     {@link #read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}, but as
     *     the cause of a {@link PagesFailedException}, which names the pages that failed, once pages have been submitted
     */
    public Mono<TransferResult> readPages(
            MemoryRegion local, int[] localPages, RemoteRegion remote, int[] remotePages, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        int[] here = localPages.clone();
        int[] there = remotePages.clone();
        TransferOptions with = options;
        return operation(
                "readPages",
                here.length * pageBytes,
                callback -> connection.readPages(
                        local,
                        here,
                        remote,
                        there,
                        pageBytes,
                        with,
                        (transfer, failed, error) ->
                                callback.terminated(transfer, PagesFailedException.of(failed, here.length, error))));
    }

    /**
     * As {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long)}, by the pages' offsets.
     *
     * @param local the target
     * @param localOffsets where the pages begin in it, in bytes, one or more; copied
     * @param remote the source, attached on this connection
     * @param remoteOffsets where they begin in it, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @return as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long)}
     */
    public Mono<TransferResult> readPages(
            MemoryRegion local, long[] localOffsets, RemoteRegion remote, long[] remoteOffsets, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        long[] here = localOffsets.clone();
        long[] there = remoteOffsets.clone();
        TransferOptions with = options;
        return operation(
                "readPages",
                here.length * pageBytes,
                callback -> connection.readPages(
                        local,
                        here,
                        remote,
                        there,
                        pageBytes,
                        with,
                        (transfer, failed, error) ->
                                callback.terminated(transfer, PagesFailedException.of(failed, here.length, error))));
    }

    /**
     * Writes a whole region or slice into the peer's region and then adds to a signal there.
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     * @param signal what to do to which signal
     * @return as {@link #writeWithSignal(MemoryRegion, long, RemoteRegion, long, long, SignalUpdate, TransferOptions)}
     */
    public Mono<TransferResult> writeWithSignal(
            MemoryRegion source, RemoteRegion target, long targetOffset, SignalUpdate signal) {
        return writeWithSignal(source, 0, target, targetOffset, source.length(), signal, options);
    }

    /**
     * Writes into the peer's region and adds to a signal there after the bytes are visible. If the write fails, the
     * signal is left alone.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param signal what to do to which signal; its region is attached on this connection, too
     * @param transferOptions deadline and the like
     * @return the result of a success: the signal is updated. Errors as for
     *     {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)};
     *     {@link OutcomeUnknownException} also means that the signal may or may not be updated
     */
    public Mono<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions transferOptions) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(signal, "signal");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation(
                "writeWithSignal",
                length,
                callback -> connection.writeWithSignal(
                        local, localOffset, remote, remoteOffset, length, signal, transferOptions, callback));
    }

    /**
     * Writes a few bytes with this face's options; as {@link #put(RemoteRegion, long, long, int, TransferOptions)}.
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset where to write, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes how many, 1 to 8
     * @return the result of a success
     */
    public Mono<TransferResult> put(RemoteRegion remote, long remoteOffset, long value, int bytes) {
        return put(remote, remoteOffset, value, bytes, options);
    }

    /**
     * Writes a value of a few bytes that needs no local region.
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset where to write, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes how many, 1 to 8
     * @param transferOptions deadline and the like
     * @return the result of a success; errors as for
     *     {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}, and
     *     {@link IllegalArgumentException} if the number of bytes is out of range
     */
    public Mono<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation(
                "put",
                bytes,
                callback -> connection.put(remote, remoteOffset, value, bytes, transferOptions, callback));
    }

    /**
     * Adds to a signal of the peer with this face's options; as {@link #signal(SignalUpdate, TransferOptions)}.
     *
     * @param update what to do to which signal
     * @return completes when the signal is updated
     */
    public Mono<Void> signal(SignalUpdate update) {
        return signal(update, options);
    }

    /**
     * Adds to a signal of the peer. {@link SignalOrder#STRONG} is after everything that was submitted before on this
     * connection, which is what was subscribed to and asked for before; {@link SignalOrder#WEAK} waits for nothing.
     *
     * @param update what to do to which signal
     * @param transferOptions deadline and the like
     * @return completes when the signal is updated. Errors: {@link RemoteAccessException},
     *     {@link io.sluice.engine.TransferTimeoutException}, {@link ConnectionLostException},
     *     {@link OutcomeUnknownException}, {@link TooManyPendingException}, {@link IllegalArgumentException} if the
     *     region belongs to another connection
     */
    public Mono<Void> signal(SignalUpdate update, TransferOptions transferOptions) {
        Objects.requireNonNull(update, "update");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation("signal", 0, callback -> connection.signal(update, transferOptions, callback))
                .then();
    }

    /**
     * Adds to a 64-bit word of the peer with this face's options; as
     * {@link #fetchAdd(RemoteRegion, long, long, TransferOptions)}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param addend what to add; wraps around as Java's addition does
     * @return what the word held before
     */
    public Mono<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend) {
        return fetchAdd(remote, remoteOffset, addend, options);
    }

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link io.sluice.engine.AtomicDomain}, and fetches
     * what it held before. Every subscription adds: {@code retry()} and {@code repeat()} add again.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param addend what to add; wraps around as Java's addition does
     * @param transferOptions deadline and the like
     * @return what the word held before. Errors as for
     *     {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}, and
     *     {@link IllegalArgumentException} if the offset is not a multiple of 8; {@link OutcomeUnknownException} means
     *     that it may or may not have been added, and so does a cancel
     */
    public Mono<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return signalled(FetchMono.of(
                "fetchAdd", callback -> connection.fetchAdd(remote, remoteOffset, addend, transferOptions, callback)));
    }

    /**
     * Replaces a 64-bit word of the peer with this face's options; as
     * {@link #compareAndSwap(RemoteRegion, long, long, long, TransferOptions)}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param expected what it must hold
     * @param replacement what it holds then
     * @return what the word held before: it was replaced if that is what was expected
     */
    public Mono<Long> compareAndSwap(RemoteRegion remote, long remoteOffset, long expected, long replacement) {
        return compareAndSwap(remote, remoteOffset, expected, replacement, options);
    }

    /**
     * Replaces a 64-bit word of the peer if it holds what is expected, atomically in the region's
     * {@link io.sluice.engine.AtomicDomain}, and fetches what it held before.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param expected what it must hold
     * @param replacement what it holds then
     * @param transferOptions deadline and the like
     * @return what the word held before: it was replaced if that is what was expected. Errors as for
     *     {@link #fetchAdd(RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return signalled(FetchMono.of(
                "compareAndSwap",
                callback -> connection.compareAndSwap(
                        remote, remoteOffset, expected, replacement, transferOptions, callback)));
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
     * who is cancelled leaves nothing behind.
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

    private Mono<TransferResult> transfer(
            Direction direction,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return signalled(new RangeTransferMono(
                        connection, direction, local, localOffset, remote, remoteOffset, length, transferOptions)
                .assembled());
    }

    private Mono<TransferResult> operation(
            String name, long bytes, Function<? super TransferCallback, ? extends Transfer> submission) {
        return signalled(new OperationMono(name, bytes, submission).assembled());
    }

    private void giveBack(RemoteRegion unwanted) {
        connection.detach(unwanted);
    }

    private void giveBackAll(List<?> unwanted) {
        for (Object region : unwanted) {
            giveBack((RemoteRegion) region);
        }
    }

    private <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }
}
