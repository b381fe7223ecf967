package io.sluice.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.sluice.collectives.CollectiveMetrics;
import io.sluice.collectives.TeamMetrics;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The meters of one team in one registry. */
final class TeamBinding {
    private static final double NANOS_A_SECOND = 1e9;

    private final WeakReference<MeterRegistry> registry;
    private final TeamMetrics metrics;
    private final Tags tags;
    private final RegisteredMeters meters;
    private final Set<CollectiveMetrics> known = new HashSet<>();
    private final List<Runnable> removals = new ArrayList<>();
    private boolean removed;

    TeamBinding(MeterRegistry registry, TeamMetrics metrics, Tags tags) {
        this.registry = new WeakReference<>(registry);
        this.metrics = metrics;
        this.tags = tags;
        this.meters = new RegisteredMeters(registry);
        EngineMeter ranks = EngineMeter.COLLECTIVE_RANKS;
        // this meter holds what all of them read, as registries hold only weak references to other objects
        meters.register(Gauge.builder(ranks.meterName(), this::ranks)
                .description(ranks.description())
                .tags(tags)::register);
        for (int peer = 0; peer < metrics.size(); peer++) {
            if (peer != metrics.rank()) {
                registerPeer(peer);
            }
        }
        refresh();
    }

    private void registerPeer(int peer) {
        Tags own = tags.and("awaited", Integer.toString(peer));
        meters.counter(EngineMeter.COLLECTIVE_PEER_WAIT, own, metrics, team -> team.waitedNanos(peer) / NANOS_A_SECOND);
        meters.counter(EngineMeter.COLLECTIVE_LAST_ARRIVALS, own, metrics, team -> team.lastArrivals(peer));
    }

    /** This meter is read whenever any is, so new kinds and algorithms are noticed here. */
    private int ranks() {
        refresh();
        return metrics.ranksAlive();
    }

    private synchronized void refresh() {
        MeterRegistry there = registry.get();
        if (removed || there == null) {
            return;
        }
        for (CollectiveMetrics each : metrics.collectives()) {
            if (known.add(each)) {
                register(there, each);
            }
        }
    }

    private void register(MeterRegistry there, CollectiveMetrics each) {
        Tags own = tags.and(
                "kind", each.kind().toString(), "algorithm", each.algorithm().toString());
        Tags successes = own.and("outcome", "success");
        meters.counter(EngineMeter.COLLECTIVE_OPERATIONS, successes, each, CollectiveMetrics::succeeded);
        meters.counter(EngineMeter.COLLECTIVE_OPERATIONS, own.and("outcome", "error"), each, CollectiveMetrics::failed);
        meters.counter(EngineMeter.COLLECTIVE_BYTES, own, each, CollectiveMetrics::bytes);
        meters.counter(EngineMeter.COLLECTIVE_BUS_BYTES, own, each, CollectiveMetrics::busBytes);
        EngineMeter time = EngineMeter.COLLECTIVE_TIME;
        meters.counter(time, own.and("part", "queued"), each, part -> part.queuedNanos() / NANOS_A_SECOND);
        meters.counter(time, own.and("part", "waiting"), each, part -> part.waitingNanos() / NANOS_A_SECOND);
        meters.counter(time, own.and("part", "moving"), each, part -> part.movingNanos() / NANOS_A_SECOND);
        removals.addAll(new CallDurations(EngineMeter.COLLECTIVE_DURATION, EngineMeter.COLLECTIVE_OPERATIONS, successes)
                .register(there, own, each, CollectiveMetrics::duration));
    }

    synchronized void remove() {
        removed = true;
        meters.removeAll();
        removals.forEach(Runnable::run);
        removals.clear();
    }
}
