package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.HandshakeBuffers;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The sockets that peers have opened and that are neither connections nor lanes yet: limits of their number and rate,
 * and counts of refusals. Thread-safe.
 */
public final class Handshakes {
    // One that takes longer makes room for others when there are too many. An honest peer's first word comes with
    // its socket; the next one may have a long way, and be one of many that are worked on.
    private static final long SILENT_NANOS = 1_000_000_000L;
    private static final long ANSWERED_NANOS = 5_000_000_000L;
    private static final int ENDED_AT_ONCE = 32;
    private static final int BUFFERS_WITH_TLS = 3;

    /** The bootstrap of an accepted socket. Thread-safe unless a method says otherwise. */
    interface HalfOpen {
        /** The poller that runs the handshake. */
        Poller poller();

        /** The source address whose share holds a place for the handshake. */
        SourceShare share();

        /** When it was accepted, by its loop's clock. */
        long begunAt();

        /** Whether the peer has been welcomed. */
        boolean isAnswered();

        /** Called on its poller when others wait and this one has taken long. */
        void evicted();
    }

    private final SourceShares shares;
    private final HandshakeBuffers buffers;
    private final RefusalLog log;
    private final Set<HalfOpen> begun = ConcurrentHashMap.newKeySet();
    private final LongAdder[] refused = new LongAdder[RefusalReason.values().length];

    public Handshakes(EngineOptions options, long now) {
        this.shares = new SourceShares(options.maxHalfOpen(), options.maxHandshakesPerSecond(), now);
        // with TLS one has three at a time, and each poller sends from one
        this.buffers = new HandshakeBuffers(
                options.maxHalfOpen() * (options.tls() == null ? 1 : BUFFERS_WITH_TLS) + options.pollers());
        this.log = new RefusalLog(LoggerFactory.getLogger(Handshakes.class), now);
        Arrays.setAll(refused, reason -> new LongAdder());
    }

    /** A place for a socket from there, which {@link #ended} or {@link #abandoned} gives back; null if it has to wait. */
    @Nullable
    SourceShare takeSlot(long source, long now) {
        return shares.takeSlot(source, now);
    }

    /** The memory of those that have proved nothing yet. */
    HandshakeBuffers buffers() {
        return buffers;
    }

    /** The log of refusals with their reasons. */
    RefusalLog log() {
        return log;
    }

    void begins(HalfOpen one) {
        begun.add(one);
    }

    /** Once for each that was made. */
    void ended(HalfOpen one) {
        begun.remove(one);
        shares.giveSlot(one.share());
    }

    /** A socket was accepted that never began, as memory was short or the engine closed; takes the place of {@link #ended}. */
    void abandoned(SourceShare share) {
        shares.giveSlot(share);
    }

    /** Whether a peer may go on; see {@link SourceShares#admits}. */
    boolean admits(SourceShare share, boolean hinted, long now) {
        return shares.admits(share, hinted, now);
    }

    /**
     * Called when there are too many: ends those that have taken longest for their few messages, so that others are
     * served.
     *
     * @param waits whether some of a source wait; where there are places left, its own alone make room for it
     */
    void makeRoom(long now, LongPredicate waits) {
        boolean full = shares.isFull();
        begun.stream()
                .filter(each -> full || waits.test(each.share().source()))
                .filter(each -> now - each.begunAt() > (each.isAnswered() ? ANSWERED_NANOS : SILENT_NANOS))
                .sorted(Comparator.comparingLong(each -> each.begunAt() - now))
                .limit(ENDED_AT_ONCE)
                .forEach(each -> each.poller().execute(each::evicted));
    }

    void refused(RefusalReason reason) {
        refused[reason.ordinal()].increment();
    }

    public long refusals(RefusalReason reason) {
        return refused[reason.ordinal()].sum();
    }

    public int halfOpen() {
        return shares.taken();
    }
}
