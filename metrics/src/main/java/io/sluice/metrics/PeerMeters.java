package io.sluice.metrics;

import io.micrometer.core.instrument.Tags;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.PeerMetrics;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The meters of a bounded number of peers; all further peers are combined as {@code other}. A newly connected peer
 * replaces the peer that has been disconnected for longest. A peer in {@code other} stays there as long as the engine
 * knows it, and its counts are kept afterwards, so the counters of {@code other} only grow.
 */
final class PeerMeters {
    private static final String OTHER = "other";
    private static final double NANOS_A_SECOND = 1e9;

    private final EngineMetrics metrics;
    private final Tags tags;
    private final int most;
    private final RegisteredMeters meters;
    private final Map<EngineId, Named> named = new HashMap<>();
    private final Map<EngineId, PeerMetrics> others = new HashMap<>();
    // peers that had their own meters and are disconnected
    private final Set<EngineId> replaced = new HashSet<>();
    private Gone gone = new Gone(0, 0, 0, 0);
    private boolean removed;

    /** A peer with its own meters; registries hold only weak references to the objects they read. */
    private record Named(PeerMetrics peer, RegisteredMeters meters) {}

    /** The counts of peers in {@code other} that the engine has forgotten. */
    private record Gone(long operations, long bytes, long errors, long nanos) {
        Gone and(PeerMetrics peer) {
            return new Gone(
                    operations + peer.operations(),
                    bytes + peer.bytes(),
                    errors + peer.errors(),
                    nanos + peer.durationNanos());
        }
    }

    PeerMeters(EngineMetrics metrics, Tags tags, int most, RegisteredMeters meters) {
        this.metrics = metrics;
        this.tags = tags;
        this.most = most;
        this.meters = meters;
    }

    void register() {
        Tags own = tags.and("peer", OTHER);
        meters.counter(EngineMeter.PEER_OPERATIONS, own, this, PeerMeters::otherOperations);
        meters.counter(EngineMeter.PEER_BYTES, own, this, all -> all.sumOfOthers(PeerMetrics::bytes, Gone::bytes));
        meters.counter(EngineMeter.PEER_ERRORS, own, this, all -> all.sumOfOthers(PeerMetrics::errors, Gone::errors));
        meters.timer(
                EngineMeter.PEER_DURATION,
                own,
                this,
                PeerMeters::operationsOfOthers,
                all -> all.sumOfOthers(PeerMetrics::durationNanos, Gone::nanos));
        meters.gauge(
                EngineMeter.PEER_IN_FLIGHT_OPERATIONS,
                own,
                this,
                all -> all.sumOfOthers(PeerMetrics::inFlightOperations, nothing -> 0));
        meters.gauge(EngineMeter.PEER_PENDING, own, this, all -> all.sumOfOthers(PeerMetrics::pending, nothing -> 0));
        meters.gauge(EngineMeter.PEER_SILENCE, own, this, PeerMeters::silenceOfOthers);
        refresh();
    }

    /** This meter is read whenever any is, so new and disconnected peers are noticed here. */
    private double otherOperations() {
        refresh();
        return operationsOfOthers();
    }

    private long operationsOfOthers() {
        return sumOfOthers(PeerMetrics::operations, Gone::operations);
    }

    private synchronized long sumOfOthers(ToLongFunction<PeerMetrics> figure, ToLongFunction<Gone> ofThoseGone) {
        return ofThoseGone.applyAsLong(gone)
                + others.values().stream().mapToLong(figure).sum();
    }

    private synchronized double silenceOfOthers() {
        return others.values().stream()
                        .filter(PeerMetrics::isConnected)
                        .mapToLong(PeerMetrics::silenceNanos)
                        .max()
                        .orElse(0)
                / NANOS_A_SECOND;
    }

    private synchronized void refresh() {
        if (removed) {
            return;
        }
        Collection<PeerMetrics> known = metrics.peers();
        Set<EngineId> ids = new HashSet<>();
        known.forEach(peer -> ids.add(peer.peer()));
        forget(ids);
        for (PeerMetrics peer : known) {
            EngineId id = peer.peer();
            boolean back = replaced.contains(id) && peer.isConnected();
            if (back || !(named.containsKey(id) || others.containsKey(id) || replaced.contains(id))) {
                replaced.remove(id);
                add(peer);
            }
        }
    }

    private void forget(Set<EngineId> known) {
        for (Iterator<Named> all = named.values().iterator(); all.hasNext(); ) {
            Named each = all.next();
            if (!known.contains(each.peer().peer())) {
                each.meters().removeAll();
                all.remove();
            }
        }
        for (Iterator<PeerMetrics> all = others.values().iterator(); all.hasNext(); ) {
            PeerMetrics each = all.next();
            if (!known.contains(each.peer())) {
                gone = gone.and(each);
                all.remove();
            }
        }
        replaced.retainAll(known);
    }

    /** Makes room for a peer; returns false if all peers with their own meters are connected. */
    private boolean replaceOneGone() {
        Optional<Named> longest = named.values().stream()
                .filter(each -> !each.peer().isConnected())
                .max(Comparator.comparingLong(each -> each.peer().silenceNanos()));
        longest.ifPresent(each -> {
            each.meters().removeAll();
            named.remove(each.peer().peer());
            replaced.add(each.peer().peer());
        });
        return longest.isPresent();
    }

    private void add(PeerMetrics peer) {
        if (named.size() >= most && !(peer.isConnected() && replaceOneGone())) {
            others.put(peer.peer(), peer);
            return;
        }
        RegisteredMeters own = meters.others();
        named.put(peer.peer(), new Named(peer, own));
        Tags ofPeer = tags.and("peer", peer.peer().toString());
        own.counter(EngineMeter.PEER_OPERATIONS, ofPeer, peer, PeerMetrics::operations);
        own.counter(EngineMeter.PEER_BYTES, ofPeer, peer, PeerMetrics::bytes);
        own.counter(EngineMeter.PEER_ERRORS, ofPeer, peer, PeerMetrics::errors);
        own.timer(EngineMeter.PEER_DURATION, ofPeer, peer, PeerMetrics::operations, PeerMetrics::durationNanos);
        own.gauge(EngineMeter.PEER_IN_FLIGHT_OPERATIONS, ofPeer, peer, PeerMetrics::inFlightOperations);
        own.gauge(EngineMeter.PEER_PENDING, ofPeer, peer, PeerMetrics::pending);
        own.gauge(EngineMeter.PEER_SILENCE, ofPeer, peer, figures -> figures.silenceNanos() / NANOS_A_SECOND);
    }

    /** Removes the meters of all peers except {@code other}, which are removed with the engine's. */
    synchronized void remove() {
        removed = true;
        named.values().forEach(each -> each.meters().removeAll());
        named.clear();
    }
}
