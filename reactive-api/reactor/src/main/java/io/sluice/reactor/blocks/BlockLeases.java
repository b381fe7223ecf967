package io.sluice.reactor.blocks;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.reactor.ReactiveConnection;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Leases of blocks over one connection, in both directions. Both sides agree what a block is: a page of the lender's
 * memory that the receiver reads, or a page of the receiver's memory that the lender has written. A message that the
 * receiver sees after all earlier writes lends the block. It belongs to the receiver until the receiver acknowledges or
 * releases it; only then may the lender use the page again.
 *
 * <p>This object subscribes to the connection's notifications and passes those without a lease to a listener. Both
 * sides of the connection need one. All methods may be called from any thread; signals arrive on the connection's
 * pollers, which must not block.
 */
public final class BlockLeases implements AutoCloseable {
    private static final Consumer<byte[]> NO_OTHERS = message -> {};

    private final ReactiveConnection connection;
    private final int maxLeases;
    private final Consumer<byte[]> others;
    private final AtomicLong nextId = new AtomicLong();
    private final AtomicInteger lentCount = new AtomicInteger();
    private final Map<Long, Sinks.One<LeaseOutcome>> lent = new ConcurrentHashMap<>();
    /** True while a block may be returned, false while the message that returns it is in flight. */
    private final Map<Long, Boolean> held = new ConcurrentHashMap<>();
    /**
     * How many of those the user holds. A block whose message is in flight belongs to the lender again, which may lend
     * the next one before this side learns that the message was sent.
     */
    private final AtomicInteger owned = new AtomicInteger();

    private final Queue<ReceivedBlock> arrived = new ConcurrentLinkedQueue<>();
    private final Sinks.Many<ReceivedBlock> received = Sinks.many().unicast().onBackpressureBuffer(arrived);
    private final Disposable subscription;
    private volatile @Nullable SluiceException end;

    private BlockLeases(ReactiveConnection connection, int maxLeases, Consumer<byte[]> others) {
        this.connection = connection;
        this.maxLeases = maxLeases;
        this.others = others;
        subscription = connection
                .notifications()
                .subscribe(
                        this::notified,
                        error -> finish(
                                error instanceof SluiceException cause
                                        ? cause
                                        : new ConnectionLostException("the notifications have ended", error)),
                        () -> finish(new ConnectionClosedException("the connection was closed")));
    }

    /**
     * Subscribes to a connection's notifications.
     *
     * @param connection the connection; its notifications must have no other subscriber
     * @param maxLeases the most blocks lent at a time in each direction, at least 1; the same on both sides
     * @return leases over that connection
     */
    public static BlockLeases over(ReactiveConnection connection, int maxLeases) {
        return over(connection, maxLeases, NO_OTHERS);
    }

    /**
     * Subscribes to a connection's notifications.
     *
     * @param connection the connection; its notifications must have no other subscriber
     * @param maxLeases the most blocks lent at a time in each direction, at least 1; the same on both sides
     * @param others receives the notifications without a lease, on the poller
     * @return leases over that connection
     */
    public static BlockLeases over(ReactiveConnection connection, int maxLeases, Consumer<byte[]> others) {
        if (maxLeases < 1) {
            throw new IllegalArgumentException("maxLeases is 1 or more, not " + maxLeases);
        }
        return new BlockLeases(
                Objects.requireNonNull(connection, "connection"), maxLeases, Objects.requireNonNull(others, "others"));
    }

    /**
     * Lends a block: everything written earlier on the connection is visible to the receiver when it is notified.
     *
     * @param description what the receiver needs to know about the block; copied; at most {@value
     *     LeaseMessage#HEADER_BYTES} bytes shorter than the longest notification
     * @return how the receiver ended the lease, after which the block may be used again. Errors: {@link
     *     TooManyPendingException} if too many blocks are lent; {@link ConnectionLostException} or its subclass {@link
     *     OutcomeUnknownException} if the receiver will not return the block, and its transfers with it over this
     *     connection fail. A cancel does not recall the block: it stays lent until it is returned or the connection
     *     ends, and counts in {@link #lent()}
     */
    public Mono<LeaseOutcome> lend(byte[] description) {
        byte[] copy = description.clone();
        return Mono.defer(() -> {
            if (lentCount.incrementAndGet() > maxLeases) {
                lentCount.decrementAndGet();
                return Mono.error(new TooManyPendingException(
                        maxLeases + " blocks are lent already; wait for one to come back, or raise maxLeases"));
            }
            long id = nextId.getAndIncrement();
            Sinks.One<LeaseOutcome> outcome = Sinks.one();
            lent.put(id, outcome);
            // Not part of the chain: a cancel must not undo a message that the receiver may have seen.
            connection
                    .notify(new LeaseMessage(LeaseMessage.Type.LEND, id, copy).toBytes())
                    .subscribe(ignored -> {}, error -> notLent(id, error));
            SluiceException ended = end;
            if (ended != null) {
                notLent(id, ended);
            }
            return outcome.asMono();
        });
    }

    private void notLent(long id, Throwable error) {
        Sinks.One<LeaseOutcome> outcome = removeLent(id);
        if (outcome != null) {
            outcome.tryEmitError(error);
        }
    }

    private Sinks.@Nullable One<LeaseOutcome> removeLent(long id) {
        Sinks.One<LeaseOutcome> outcome = lent.remove(id);
        if (outcome != null) {
            lentCount.decrementAndGet();
        }
        return outcome;
    }

    /**
     * Returns how many blocks the receiver has not returned.
     *
     * @return 0 to {@code maxLeases}
     */
    public int lent() {
        return lentCount.get();
    }

    /**
     * Returns how many of the peer's blocks were not returned.
     *
     * @return 0 to {@code maxLeases}
     */
    public int held() {
        return end == null ? owned.get() : 0;
    }

    /**
     * Returns the blocks that the peer lends. A block that arrives when the maximum is held is returned unused
     * immediately, and so are blocks that were not delivered or arrive after the subscriber has cancelled.
     *
     * @return a Flux for one subscriber, beginning with the blocks that arrived before it. Completes when the
     *     connection is closed, or fails with {@link ConnectionLostException}
     */
    public Flux<ReceivedBlock> received() {
        return received.asFlux().doOnDiscard(ReceivedBlock.class, BlockLeases::giveBackUnused);
    }

    private void notified(byte[] notification) {
        LeaseMessage message = LeaseMessage.fromBytes(notification);
        if (message == null) {
            others.accept(notification);
            return;
        }
        switch (message.type()) {
            case LEND -> arrived(message);
            case ACKNOWLEDGE -> returned(message.id(), LeaseOutcome.ACKNOWLEDGED);
            case RELEASE -> returned(message.id(), LeaseOutcome.RELEASED);
        }
    }

    private void arrived(LeaseMessage message) {
        if (owned.get() >= maxLeases) {
            connection
                    .notify(LeaseMessage.of(LeaseMessage.Type.RELEASE, message.id())
                            .toBytes())
                    .subscribe(ignored -> {}, error -> {
                        // The connection has ended, and with it the lease.
                    });
        } else if (held.putIfAbsent(message.id(), true) == null) {
            owned.incrementAndGet();
            ReceivedBlock block = new ReceivedBlock(this, message.id(), message.description());
            if (received.tryEmitNext(block).isFailure()) {
                giveBackUnused(block);
            }
            SluiceException ended = end;
            if (ended != null) {
                // A thread that ended the leases meanwhile may have found the subscriber busy with this block.
                endReceived(ended);
            }
        }
    }

    private static void giveBackUnused(ReceivedBlock block) {
        block.release().subscribe(ignored -> {}, error -> {
            // It stays lent until the connection ends, like a forgotten one.
        });
    }

    /** Ignores a block that is not lent. */
    private void returned(long id, LeaseOutcome how) {
        Sinks.One<LeaseOutcome> outcome = removeLent(id);
        if (outcome != null) {
            outcome.tryEmitValue(how);
        }
    }

    Mono<Void> giveBack(long id, LeaseMessage.Type how) {
        return Mono.defer(() -> {
            SluiceException ended = end;
            if (ended != null && held.containsKey(id)) {
                return Mono.error(ended);
            }
            if (!held.replace(id, true, false)) {
                return Mono.empty();
            }
            owned.decrementAndGet();
            return connection
                    .notify(LeaseMessage.of(how, id).toBytes())
                    .doOnSuccess(done -> held.remove(id))
                    .doOnError(error -> notGivenBack(id))
                    // The message may be in flight: the block must not be touched, and can be returned again.
                    .doOnCancel(() -> notGivenBack(id));
        });
    }

    private void notGivenBack(long id) {
        if (held.replace(id, false, true)) {
            owned.incrementAndGet();
        }
    }

    private void finish(SluiceException cause) {
        // The leases have already ended; a later close changes nothing.
        SluiceException first = end;
        SluiceException ended = first == null ? cause : first;
        end = ended;
        lent.keySet().forEach(id -> notLent(id, ended));
        endReceived(ended);
    }

    private void endReceived(SluiceException cause) {
        if (cause instanceof ConnectionClosedException) {
            received.tryEmitComplete();
        } else {
            received.tryEmitError(cause);
        }
    }

    /**
     * Cancels the subscription to notifications and ends all leases here, as if the connection had ended. The
     * connection stays open and the peer is not notified, so close the connection, too.
     */
    @Override
    public void close() {
        subscription.dispose();
        finish(new ConnectionClosedException("the leases of this connection were closed"));
    }
}
