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
 * Leases of blocks over one connection, in both directions. A block is what both sides agree it is: a page of the lender's
 * memory that the receiver reads, or a page of the receiver's that the lender has written. It is lent with a message that the
 * receiver sees after all writes before it, and belongs to the receiver until that acknowledges or releases it: only then may
 * the lender use the page again.
 *
 * <p>This object takes the connection's notifications; those that are about no lease go to a listener. Both sides of the
 * connection need one. All methods may be called from any thread; signals come on the connection's pollers, which must not
 * block.
 */
public final class BlockLeases implements AutoCloseable {
    private static final Consumer<byte[]> NO_OTHERS = message -> {};

    private final ReactiveConnection connection;
    private final int maxLeases;
    private final Consumer<byte[]> others;
    private final AtomicLong nextId = new AtomicLong();
    private final AtomicInteger lentCount = new AtomicInteger();
    private final Map<Long, Sinks.One<LeaseOutcome>> lent = new ConcurrentHashMap<>();
    /** True while a block may be given back, false while a message that does so is under way. */
    private final Map<Long, Boolean> held = new ConcurrentHashMap<>();
    /**
     * How many of those are the user's. One whose message is under way is the lender's again, who may lend the next before it
     * is known here that the message has gone.
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
     * Begins to take a connection's notifications.
     *
     * @param connection its notifications must have no other subscriber
     * @param maxLeases how many blocks may be lent at a time in each direction, at least 1; the same on both sides
     * @return leases over that connection
     */
    public static BlockLeases over(ReactiveConnection connection, int maxLeases) {
        return over(connection, maxLeases, NO_OTHERS);
    }

    /**
     * Begins to take a connection's notifications.
     *
     * @param connection its notifications must have no other subscriber
     * @param maxLeases how many blocks may be lent at a time in each direction, at least 1; the same on both sides
     * @param others is given the notifications that are about no lease, on the poller
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
     * Lends a block: what was written on the connection before is visible to the receiver when it is notified.
     *
     * @param description what the receiver needs to know of the block; copied, and {@value LeaseMessage#HEADER_BYTES} bytes
     *     shorter than the longest notification at most
     * @return how the receiver has ended the lease: the block may be used again. Errors: {@link TooManyPendingException} if as
     *     many are lent as may be; {@link ConnectionLostException}: the receiver will not give it back, and what it does with
     *     the block over this connection fails; {@link OutcomeUnknownException}, which is one of those. A cancel does not call
     *     the block back: it stays lent until it is given back or the connection ends, and counts in {@link #lent()}
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
            // Not a part of the chain: a cancel must not undo what the receiver may have heard of.
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
     * How many blocks the receiver has not given back.
     *
     * @return 0 to the most that may be lent
     */
    public int lent() {
        return lentCount.get();
    }

    /**
     * How many of the peer's blocks were not given back.
     *
     * @return 0 to the most that may be lent
     */
    public int held() {
        return end == null ? owned.get() : 0;
    }

    /**
     * The blocks that the peer lends. A block that comes while as many are held as may be is given back unused at once, and so
     * is what has come or comes when the subscriber has cancelled.
     *
     * @return for one subscriber; those that came before it come first. Completes when the connection is closed, or fails with
     *     {@link ConnectionLostException}
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
                // The thread that ended the leases meanwhile may have found the subscriber busy with this block.
                endReceived(ended);
            }
        }
    }

    private static void giveBackUnused(ReceivedBlock block) {
        block.release().subscribe(ignored -> {}, error -> {
            // It is lent until the connection ends, like a forgotten one.
        });
    }

    /** One that is not lent, any more or at all, is ignored. */
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
                    // It may be on its way or not: it must not be touched, and can be given back once more.
                    .doOnCancel(() -> notGivenBack(id));
        });
    }

    private void notGivenBack(long id) {
        if (held.replace(id, false, true)) {
            owned.incrementAndGet();
        }
    }

    private void finish(SluiceException cause) {
        // What came first has ended them; a close after it changes nothing.
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
     * Stops taking notifications and ends all leases here, as if the connection had ended; the connection itself stays as it is.
     * Close the connection, too: the peer is not told.
     */
    @Override
    public void close() {
        subscription.dispose();
        finish(new ConnectionClosedException("the leases of this connection were closed"));
    }
}
