package io.sluice.engine.session;

import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.memory.AskedChecksums;
import io.sluice.engine.memory.LocalRegion;
import io.sluice.engine.memory.RegionExchange;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Deadline;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends heartbeats, and gives a connection up whose peer is silent or owes an answer for longer than the liveness
 * time-out. On the connection's loop.
 */
final class Liveness extends Deadline {
    private static final int TICKS_A_LIVENESS = 8;
    private static final int TICKS_A_HEARTBEAT = 2;
    private static final byte[] EMPTY = {};

    private final Poller loop;
    private final FramedSocket control;
    private final ConnectionPaths paths;
    private final ConnectionFlow flow;
    private final RegionExchange regions;
    private final AskedChecksums askedChecksums;
    private final FlowCounters counters;
    private final long livenessNanos;
    private final long tickNanos;
    private final Consumer<String> lost;
    private final Map<LocalRegion, Long> closingRegions = new HashMap<>();
    private int tick;
    private long missedHeartbeats;
    private boolean ended;

    /**
     * Of a connection.
     *
     * @param livenessNanos after how long a silence this side gives the peer up
     * @param peerLivenessNanos after how long a silence the peer gives this side up
     * @param lost takes the reason when the connection is given up
     */
    Liveness(
            Poller loop,
            FramedSocket control,
            ConnectionPaths paths,
            RegionExchange regions,
            AskedChecksums askedChecksums,
            FlowCounters counters,
            long livenessNanos,
            long peerLivenessNanos,
            Consumer<String> lost) {
        this.loop = loop;
        this.control = control;
        this.paths = paths;
        this.flow = paths.flow();
        this.regions = regions;
        this.askedChecksums = askedChecksums;
        this.counters = counters;
        this.livenessNanos = livenessNanos;
        this.tickNanos = Math.min(livenessNanos, peerLivenessNanos) / TICKS_A_LIVENESS;
        this.lost = lost;
    }

    /** The connection is open. */
    void begin() {
        loop.arm(this, loop.now() + tickNanos);
    }

    /** The connection is over. */
    void end() {
        ended = true;
        loop.disarm(this);
        closingRegions.clear();
    }

    /** From now on the connection may hold the region for no longer than the liveness time-out. */
    void regionClosing(LocalRegion region) {
        closingRegions.put(region, loop.now());
    }

    /** Heartbeats come at this side's own rate; one that is late by half an interval is taken for missed. */
    private void countMissedHeartbeats(long silence) {
        long interval = tickNanos * TICKS_A_HEARTBEAT;
        long missed = (silence + interval / 2) / interval - 1;
        if (missed > missedHeartbeats) {
            counters.add(FlowCounter.HEARTBEATS_MISSED, missed - missedHeartbeats);
        }
        missedHeartbeats = Math.max(0, missed);
    }

    @Override
    protected void expired() {
        if (ended) {
            return;
        }
        long now = loop.now();
        // this cycle may have begun long before it received
        long silence = now - control.lastReceived();
        countMissedHeartbeats(silence);
        if (silence > livenessNanos) {
            lost.accept("no message from the peer for " + silence / 1_000_000 + " ms");
            return;
        }
        if (isOverdue(regions.oldest(), now)
                || isOverdue(askedChecksums.waitingSince(), now)
                || flow.isAcknowledgementOverdue(now, livenessNanos)) {
            lost.accept("the peer does not answer on its control channel");
            return;
        }
        String stuck = paths.stuckLane(now, livenessNanos);
        if (stuck != null) {
            lost.accept(stuck);
            return;
        }
        if (flow.isQuiescenceOverdue(now, livenessNanos) || isClosingOverdue(now)) {
            lost.accept(
                    "requests posted before a transfer or region ended did not complete within the liveness time-out,"
                            + " and only closing the connection stops it");
            return;
        }
        if (++tick % TICKS_A_HEARTBEAT == 0) {
            control.send(MessageType.HEARTBEAT, EMPTY);
        }
        loop.arm(this, now + tickNanos);
    }

    private boolean isOverdue(@Nullable Long since, long now) {
        return since != null && now - since > livenessNanos;
    }

    /** Whether this connection has kept a closing region waiting for longer than the liveness time-out. */
    private boolean isClosingOverdue(long now) {
        if (closingRegions.isEmpty()) {
            return false;
        }
        closingRegions.keySet().removeIf(LocalRegion::isGivenBack);
        return closingRegions.entrySet().stream()
                .anyMatch(closing -> now - closing.getValue() > livenessNanos
                        && (flow.isPostedOn(closing.getKey()) || paths.holdsClosedLease()));
    }
}
