package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.sluice.experts.ExpertCallMetrics;
import io.sluice.experts.ExpertMetrics;
import java.util.ArrayList;
import java.util.List;

/** The meters of one expert buffer in one registry. */
final class ExpertBinding {
    private static final double NANOS_A_SECOND = 1e9;

    private final ExpertMetrics metrics;
    private final Tags tags;
    private final RegisteredMeters meters;
    private final List<Runnable> removals = new ArrayList<>();

    ExpertBinding(MeterRegistry registry, ExpertMetrics metrics, Tags tags) {
        this.metrics = metrics;
        this.tags = tags;
        this.meters = new RegisteredMeters(registry);
        metrics.calls().forEach(each -> register(registry, each));
        for (int peer = 0; peer < metrics.ranks(); peer++) {
            if (peer != metrics.rank()) {
                registerPeer(peer);
            }
        }
        if (metrics.localExperts() <= ExpertMeters.MOST_EXPERTS) {
            for (int local = 0; local < metrics.localExperts(); local++) {
                registerExpert(local);
            }
        }
        meters.counter(EngineMeter.EXPERT_BUSIEST_LOAD, tags, metrics, ExpertMetrics::busiestLoad);
    }

    private void registerPeer(int peer) {
        Tags own = tags.and("awaited", Integer.toString(peer));
        meters.counter(EngineMeter.EXPERT_PEER_WAIT, own, metrics, all -> all.waitedNanos(peer) / NANOS_A_SECOND);
        meters.counter(EngineMeter.EXPERT_LAST_ARRIVALS, own, metrics, all -> all.lastArrivals(peer));
    }

    private void registerExpert(int local) {
        int digits = Integer.toString(metrics.experts() - 1).length();
        String number = Integer.toString(metrics.rank() * metrics.localExperts() + local);
        Tags own = tags.and("expert", "0".repeat(digits - number.length()) + number);
        meters.counter(EngineMeter.EXPERT_LOAD, own, metrics, all -> all.load(local));
    }

    private void register(MeterRegistry registry, ExpertCallMetrics each) {
        Tags own = tags.and("kind", each.kind().toString());
        Tags successes = own.and("outcome", "success");
        meters.counter(EngineMeter.EXPERT_CALLS, successes, each, ExpertCallMetrics::succeeded);
        meters.counter(EngineMeter.EXPERT_CALLS, own.and("outcome", "error"), each, ExpertCallMetrics::failed);
        Tags sent = own.and("direction", "sent");
        Tags received = own.and("direction", "received");
        meters.counter(EngineMeter.EXPERT_TOKENS, sent, each, ExpertCallMetrics::tokensSent);
        meters.counter(EngineMeter.EXPERT_TOKENS, received, each, ExpertCallMetrics::tokensReceived);
        meters.counter(EngineMeter.EXPERT_BYTES, sent, each, ExpertCallMetrics::bytesSent);
        meters.counter(EngineMeter.EXPERT_BYTES, received, each, ExpertCallMetrics::bytesReceived);
        EngineMeter time = EngineMeter.EXPERT_TIME;
        meters.counter(time, own.and("part", "queued"), each, part -> part.queuedNanos() / NANOS_A_SECOND);
        meters.counter(time, own.and("part", "waiting"), each, part -> part.waitingNanos() / NANOS_A_SECOND);
        meters.counter(time, own.and("part", "moving"), each, part -> part.movingNanos() / NANOS_A_SECOND);
        removals.addAll(new CallDurations(EngineMeter.EXPERT_DURATION, EngineMeter.EXPERT_CALLS, successes)
                .register(registry, own, each, ExpertCallMetrics::duration));
    }

    void remove() {
        meters.removeAll();
        removals.forEach(Runnable::run);
        removals.clear();
    }
}
