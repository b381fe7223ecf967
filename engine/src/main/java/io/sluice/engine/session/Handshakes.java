package io.sluice.engine.session;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RefusalReason;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The sockets that peers have opened and that are neither connections nor lanes yet: how many there may be, how many may begin
 * in a second, and what became of those that were refused. Any thread.
 */
final class Handshakes {
    // One that takes longer makes room for others when there are too many. An honest peer's first word comes with
    // its socket; the next one may have a long way, and be one of many that are worked on.
    private static final long SILENT_NANOS = 1_000_000_000L;
    private static final long ANSWERED_NANOS = 5_000_000_000L;
    private static final int ENDED_AT_ONCE = 32;

    private final int limit;
    private final HandshakeRate rate;
    private final AtomicInteger halfOpen = new AtomicInteger();
    private final Set<IncomingBootstrap> begun = ConcurrentHashMap.newKeySet();
    private final LongAdder[] refused = new LongAdder[RefusalReason.values().length];

    Handshakes(EngineOptions options, long now) {
        this.limit = options.maxHalfOpen();
        this.rate = new HandshakeRate(options.maxHandshakesPerSecond(), now);
        Arrays.setAll(refused, reason -> new LongAdder());
    }

    /** Whether one more socket may be accepted. */
    boolean hasRoom() {
        return halfOpen.get() < limit;
    }

    /** A socket is accepted; {@link #ended} follows. */
    void accepted() {
        halfOpen.incrementAndGet();
    }

    void begins(IncomingBootstrap bootstrap) {
        begun.add(bootstrap);
    }

    /** Once for each that was made. */
    void ended(IncomingBootstrap bootstrap) {
        begun.remove(bootstrap);
        halfOpen.decrementAndGet();
    }

    /** A socket was accepted that never began, as memory was short or the engine closed; takes the place of {@link #ended}. */
    void neverBegan() {
        halfOpen.decrementAndGet();
    }

    /** Whether a peer's hello may be answered. */
    boolean admits(long now) {
        return rate.admits(now);
    }

    /** There are too many: those that have taken longest for their few messages are ended, so that others are served. */
    void makeRoom(long now) {
        begun.stream()
                .filter(each -> now - each.begunAt() > (each.isAnswered() ? ANSWERED_NANOS : SILENT_NANOS))
                .sorted(Comparator.comparingLong(each -> each.begunAt() - now))
                .limit(ENDED_AT_ONCE)
                .forEach(each -> each.poller().execute(each::crowdedOut));
    }

    void refused(RefusalReason reason) {
        refused[reason.ordinal()].increment();
    }

    long refusals(RefusalReason reason) {
        return refused[reason.ordinal()].sum();
    }

    int halfOpen() {
        return halfOpen.get();
    }
}
