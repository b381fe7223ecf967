package io.sluice.reactor.recovery;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.ReactiveConnection;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A region of the peer of a {@link ReconnectingConnection}, attached on each connection when it is first needed there.
 * A peer that has just restarted may not have the region yet: while the peer does not know it, or the descriptor is
 * from an earlier run, attaching is retried, with pauses, for at most {@link ReconnectOptions#maxWait()} after an
 * equally long wait for the connection.
 *
 * <p>All methods may be called from any thread. Otherwise the rules of {@link ReconnectingConnection} apply.
 */
public final class ReconnectingRegion {
    private final ReconnectingConnection connection;
    private final Function<? super ReactiveConnection, ? extends Mono<RegionDescriptor>> descriptor;
    private final ReconnectOptions options;
    private final LongSupplier nanoTime;
    private final AtomicReference<@Nullable Attachment> attachment = new AtomicReference<>();

    ReconnectingRegion(
            ReconnectingConnection connection,
            Function<? super ReactiveConnection, ? extends Mono<RegionDescriptor>> descriptor,
            ReconnectOptions options,
            LongSupplier nanoTime) {
        this.connection = connection;
        this.descriptor = descriptor;
        this.options = options;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the region on the open connection, or on the next one.
     *
     * @return the region, valid until its connection ends; errors as for {@link ReconnectingConnection#connection()},
     *     {@link RegionNotFoundException}, {@link StaleDescriptorException}, and the other errors of an attach
     */
    public Mono<RemoteRegion> remote() {
        return mono((open, remote) -> Mono.just(remote));
    }

    /**
     * Runs an operation on the region, over the connection that is open at the subscription, or the next one.
     *
     * @param operation called for each subscriber with the connection and the region attached on it
     * @param <T> the type of the result
     * @return the operation's result; errors also as for {@link #remote()}
     */
    public <T> Mono<T> mono(BiFunction<? super ReactiveConnection, ? super RemoteRegion, ? extends Mono<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Mono.defer(() -> {
            Attachment now = attachedNow();
            RemoteRegion remote = now == null ? null : now.region;
            return now != null && remote != null
                    ? operation.apply(now.on, remote)
                    : attached().flatMap(made -> made.remote.flatMap(found -> operation.apply(made.on, found)));
        });
    }

    /**
     * Runs operations on the region, as {@link #mono} does.
     *
     * @param operation called for each subscriber with the connection and the region attached on it
     * @param <T> the type of the results
     * @return the operation's result; errors also as for {@link #remote()}
     */
    public <T> Flux<T> flux(BiFunction<? super ReactiveConnection, ? super RemoteRegion, ? extends Flux<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Flux.defer(() -> {
            Attachment now = attachedNow();
            RemoteRegion remote = now == null ? null : now.region;
            return now != null && remote != null
                    ? operation.apply(now.on, remote)
                    : attached().flatMapMany(made -> made.remote.flatMapMany(found -> operation.apply(made.on, found)));
        });
    }

    /**
     * Writes into the region.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remoteOffset the start of the range in this region, in bytes
     * @param length bytes, 0 or more
     * @return as {@link ReactiveConnection#write(MemoryRegion, long, RemoteRegion, long, long)}; errors also as for
     *     {@link #remote()}
     */
    public Mono<TransferResult> write(MemoryRegion local, long localOffset, long remoteOffset, long length) {
        return mono((open, remote) -> open.write(local, localOffset, remote, remoteOffset, length));
    }

    /**
     * Reads from the region.
     *
     * @param local the target
     * @param localOffset the start of the local range, in bytes
     * @param remoteOffset the start of the range in this region, in bytes
     * @param length bytes, 0 or more
     * @return as {@link ReactiveConnection#read(MemoryRegion, long, RemoteRegion, long, long)}; errors also as for
     *     {@link #remote()}
     */
    public Mono<TransferResult> read(MemoryRegion local, long localOffset, long remoteOffset, long length) {
        return mono((open, remote) -> open.read(local, localOffset, remote, remoteOffset, length));
    }

    /** Forgets the attached region, so that the next operation attaches again, for a peer that has replaced it. */
    public void forget() {
        attachment.set(null);
    }

    private @Nullable Attachment attachedNow() {
        Attachment now = attachment.get();
        return now != null && now.on == connection.openNow() ? now : null;
    }

    private Mono<Attachment> attached() {
        return connection.connection().map(this::attachmentOn);
    }

    /** Returns the attachment on a connection, shared by all operations. */
    private Attachment attachmentOn(ReactiveConnection open) {
        while (true) {
            Attachment known = attachment.get();
            if (known != null && known.on == open) {
                return known;
            }
            Attachment fresh = new Attachment(open);
            if (attachment.compareAndSet(known, fresh)) {
                return fresh;
            }
        }
    }

    /** The region on one connection. */
    private final class Attachment {
        private final ReactiveConnection on;
        private final Mono<RemoteRegion> remote;
        private final RetryUntil untilThere;
        private volatile @Nullable RemoteRegion region;

        private Attachment(ReactiveConnection on) {
            this.on = on;
            this.untilThere = new RetryUntil(ReconnectingRegion::isNotThereYet, options, nanoTime);
            this.remote = Mono.defer(() -> descriptor.apply(on))
                    .flatMap(on::attach)
                    .retryWhen(untilThere)
                    .doOnNext(attached -> region = attached)
                    .doOnError(error -> attachment.compareAndSet(this, null))
                    .cache();
        }
    }

    private static boolean isNotThereYet(Throwable error) {
        return error instanceof RegionNotFoundException || error instanceof StaleDescriptorException;
    }
}
