package io.sluice.reactor;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Looks at a collective from time to time for one subscriber. The sink keeps the newest report for later demand. */
final class ProgressReport {
    private final FluxSink<CollectiveProgress> sink;
    private volatile @Nullable Collective running;

    private ProgressReport(FluxSink<CollectiveProgress> sink) {
        this.sink = sink;
    }

    static <C extends Collective> Flux<CollectiveProgress> of(
            String name,
            Function<CollectiveCallback, C> call,
            Duration interval,
            @Nullable Scheduler scheduler,
            AbandonedCalls abandoned) {
        if (!interval.isPositive()) {
            throw new IllegalArgumentException("an interval is positive, not " + interval);
        }
        Flux<CollectiveProgress> reports = Flux.create(
                sink -> new ProgressReport(sink).begin(name, call, interval.toNanos(), abandoned),
                FluxSink.OverflowStrategy.LATEST);
        // one at a time, so that the operator keeps no old ones
        return scheduler == null ? reports : reports.publishOn(scheduler, 1);
    }

    private <C extends Collective> void begin(
            String name, Function<CollectiveCallback, C> call, long interval, AbandonedCalls abandoned) {
        Disposable.Swap looking = Disposables.swap();
        Disposable ending = new CollectiveMono<C>(
                        name,
                        end -> {
                            C called = call.apply(end);
                            running = called;
                            return called;
                        },
                        abandoned)
                .assembled()
                .subscribe(
                        ended -> {
                            endLooking(looking);
                            sink.next(CollectiveProgress.of(ended));
                            sink.complete();
                        },
                        sink::error,
                        null,
                        Context.of(sink.contextView()));
        sink.onDispose(Disposables.composite(ending, () -> endLooking(looking)));
        looking.update(
                Schedulers.parallel().schedulePeriodically(this::look, interval, interval, TimeUnit.NANOSECONDS));
    }

    /** Not on a poller: to take a timer out of its scheduler's queue takes a lock. */
    private static void endLooking(Disposable.Swap looking) {
        if (!looking.isDisposed()) {
            Thread.ofVirtual().name("sluice-progress-end").start(looking::dispose);
        }
    }

    private void look() {
        Collective collective = running;
        if (collective != null) {
            sink.next(CollectiveProgress.of(collective));
        }
    }
}
