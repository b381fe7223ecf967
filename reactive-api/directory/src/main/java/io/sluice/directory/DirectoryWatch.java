package io.sluice.directory;

import io.sluice.directory.store.StoredValue;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;

/**
 * One subscriber's watch. The store reports which keys may have changed; they are read serially, each time after the
 * last reported change. {@link WatchedNames} keeps what was read, and the subscriber receives as much as it requests.
 * Any failure ends the current attempt; after a pause everything is read again.
 */
final class DirectoryWatch implements Subscription {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryWatch.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    /** Above this number, changed keys are no longer remembered individually. */
    private static final int MOST_NAMES_AT_A_TIME = 64;

    private static final int READS_AT_A_TIME = 8;

    private final StoreAccess access;
    private final String prefix;
    private final Subscriber<? super DirectoryEvent> subscriber;
    private final Backoff backoff;
    private final RepeatedFailures log;
    private final WatchedNames names = new WatchedNames();
    private final AtomicLong requested = new AtomicLong();
    private final AtomicInteger emitting = new AtomicInteger();
    private final Disposable.Swap current = Disposables.swap();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile boolean cancelled;

    DirectoryWatch(StoreAccess access, String prefix, Subscriber<? super DirectoryEvent> subscriber) {
        this.access = access;
        this.prefix = prefix;
        this.subscriber = subscriber;
        this.log = new RepeatedFailures(LOG, "the names that begin with '" + prefix + "' cannot be watched");
        this.backoff = new Backoff(FIRST_PAUSE, access.options().maxBackoff());
    }

    /** Starts or restarts. */
    void establish() {
        if (cancelled) {
            return;
        }
        Attempt attempt = new Attempt();
        current.update(attempt.parts);
        attempt.begin();
    }

    private void lost(Throwable cause) {
        if (cancelled) {
            return;
        }
        DirectoryUnavailableException unavailable = access.unavailable(cause);
        log.failed(unavailable);
        int failed = failures.incrementAndGet();
        if (failed == 1) {
            names.interrupt(unavailable);
            emit();
        }
        // Assigned before it starts: the pause may end, and its successor be assigned, before the assignment.
        Disposable.Swap pause = Disposables.swap();
        current.update(pause);
        pause.update(Mono.delay(backoff.after(failed)).subscribe(ignored -> establish()));
    }

    /** From establishing the watch to the next failure. */
    private final class Attempt {
        final Disposable.Composite parts = Disposables.composite();
        private final Set<String> told = new LinkedHashSet<>();
        private boolean isAllTold;
        private boolean isReading;
        private boolean isComplete;
        private boolean isOver;

        void begin() {
            // The first signal must arrive within a request's time-out; silence is valid after that.
            parts.add(Flux.defer(() -> access.store().changes(Keys.head(prefix)))
                    .timeout(Mono.delay(access.options().requestTimeout()), any -> Mono.never())
                    .subscribe(this::changed, this::end, () -> end(StoreAccess.closedError())));
            parts.add(Flux.interval(access.options().reconcileInterval())
                    .onBackpressureDrop()
                    .subscribe(tick -> reconcile()));
        }

        private void reconcile() {
            synchronized (this) {
                // Before the first read there is no state that could be out of date.
                if (!isComplete) {
                    return;
                }
                isAllTold = true;
            }
            read();
        }

        private void changed(String key) {
            synchronized (this) {
                if (key.isEmpty() || told.size() >= MOST_NAMES_AT_A_TIME) {
                    isAllTold = true;
                    told.clear();
                } else if (!isAllTold && key.startsWith(Keys.head(prefix))) {
                    told.add(Keys.name(key));
                }
            }
            read();
        }

        private void read() {
            boolean all;
            List<String> some;
            synchronized (this) {
                if (isReading || isOver || (!isAllTold && told.isEmpty())) {
                    return;
                }
                isReading = true;
                all = isAllTold;
                some = List.copyOf(told);
                isAllTold = false;
                told.clear();
            }
            Mono<Void> reading = all ? readAll() : readSome(some);
            Disposable.Swap place = Disposables.swap();
            parts.add(place);
            // On another thread, so that a store that answers inside the call does not deepen the stack.
            place.update(reading.subscribeOn(Schedulers.parallel())
                    .subscribe(ignored -> {}, this::end, () -> hasRead(place)));
        }

        private void hasRead(Disposable place) {
            parts.remove(place);
            synchronized (this) {
                isReading = false;
            }
            emit();
            read();
        }

        /** Records what was read, unless another attempt may have read something newer meanwhile. */
        private synchronized void note(Runnable what) {
            if (!isOver) {
                what.run();
            }
        }

        private Mono<Void> readAll() {
            return access.heads(prefix)
                    .doOnNext(heads -> {
                        Map<String, WatchedNames.State> everything = new TreeMap<>();
                        for (StoredValue head : heads) {
                            String name = Keys.name(head.key());
                            everything.put(name, WatchedNames.State.of(name, head.value()));
                        }
                        note(() -> {
                            if (isComplete) {
                                names.reconcile(everything);
                            } else {
                                names.snapshot(everything);
                                failures.set(0);
                                log.succeeded();
                                isComplete = true;
                            }
                        });
                    })
                    .then();
        }

        private Mono<Void> readSome(List<String> some) {
            return Flux.fromIterable(some)
                    .flatMap(
                            name -> access.get(Keys.head(name))
                                    .map(Optional::of)
                                    .defaultIfEmpty(Optional.empty())
                                    .doOnNext(head -> note(() -> names.update(
                                            name,
                                            head.map(bytes -> WatchedNames.State.of(name, bytes))
                                                    .orElse(null)))),
                            READS_AT_A_TIME)
                    .then();
        }

        private void end(Throwable cause) {
            synchronized (this) {
                if (isOver) {
                    return;
                }
                isOver = true;
            }
            parts.dispose();
            lost(cause);
        }
    }

    private void emit() {
        if (emitting.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            while (!cancelled && requested.get() > 0) {
                DirectoryEvent event = names.next();
                if (event == null) {
                    break;
                }
                subscriber.onNext(event);
                if (requested.get() != Long.MAX_VALUE) {
                    requested.decrementAndGet();
                }
            }
            missed = emitting.addAndGet(-missed);
        } while (missed != 0);
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            requested.accumulateAndGet(n, Operators::addCap);
            emit();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        current.dispose();
    }
}
