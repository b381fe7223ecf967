package io.sluice.directory;

import io.sluice.directory.store.StoreLease;
import io.sluice.engine.RegionDescriptor;
import io.sluice.reactor.ResourceMono;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;

/**
 * Keeps one entry in the store. A beat reads the head: if it belongs to this publication, the beat renews the lease; if
 * it is missing, or is from a late write of this publication, the beat installs the entry again; if it belongs to
 * another publication, this one has ended. All steps that write are serial.
 */
final class StorePublication implements Publication {
    private static final Logger LOG = LoggerFactory.getLogger(StorePublication.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BEATS_IN_A_LEASE = 3;
    /** A restarted store has lost the entry without an error. */
    private static final Duration LONGEST_BEAT = Duration.ofSeconds(3);

    private static final int MICROS_IN_A_MILLI = 1_000;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration DROP_TIMEOUT = Duration.ofSeconds(10);

    /** Drops an error after a cancel. */
    private static final Consumer<Throwable> IGNORED =
            error -> LOG.debug("A publication failed after its subscriber had gone", error);

    /** The stored entry, as far as this process knows. */
    private record Installed(StoreLease lease, EncodedEntry entry) {}

    private final StoreAccess access;
    private final Consumer<StorePublication> onEnd;
    private final Backoff backoff;
    private final RepeatedFailures log;
    private final long publication = RANDOM.nextLong();
    private final SerialOperations writes = new SerialOperations();
    private final Sinks.Empty<Void> ended = Sinks.empty();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final Disposable.Swap nextBeat = Disposables.swap();
    private volatile Advertisement advertisement;
    private volatile @Nullable Installed installed;
    private volatile @Nullable CompletableFuture<Publication> beginning;
    private int failures;

    StorePublication(StoreAccess access, Advertisement advertisement, Consumer<StorePublication> onEnd) {
        this.access = access;
        this.advertisement = advertisement;
        this.onEnd = onEnd;
        this.log = new RepeatedFailures(LOG, "the entry '" + advertisement.name() + "' cannot be renewed");
        Duration most = access.options().maxBackoff();
        this.backoff = new Backoff(FIRST_PAUSE, beatInterval().compareTo(most) < 0 ? beatInterval() : most);
    }

    Mono<Publication> start() {
        return ResourceMono.of("publish", Publication.class, this::begin, unwanted -> giveUp())
                .doFinally(signal -> {
                    if (signal == SignalType.CANCEL) {
                        abandon();
                    }
                })
                .contextWrite(context -> context.put(NamedConnections.ON_ERROR_DROPPED, IGNORED));
    }

    @SuppressWarnings("NullAway") // a publication is never null
    private CompletableFuture<Publication> begin() {
        CompletableFuture<Publication> begun = writes.run(
                        Mono.defer(() -> isOver.get() ? Mono.error(StoreAccess.closedError()) : install(true)))
                .doOnSuccess(done -> scheduleBeat(beatInterval()))
                .<Publication>thenReturn(this)
                .doOnError(error -> giveUp())
                .doOnCancel(this::giveUp)
                .toFuture();
        beginning = begun;
        return begun;
    }

    /** After a cancel: ends what is under way, unless the publisher has its publication. */
    private void abandon() {
        CompletableFuture<Publication> begun = beginning;
        if (begun == null) {
            giveUp();
        } else {
            begun.cancel(false);
        }
    }

    /** The subscriber has cancelled: removes the values that may have been stored. */
    private void giveUp() {
        withdraw()
                .subscribe(
                        ignored -> {},
                        error -> LOG.debug("The entry '{}' is left to expire", advertisement.name(), error));
    }

    @Override
    public EngineEntry entry() {
        Installed current = installed;
        if (current == null) {
            throw new IllegalStateException(
                    "'" + advertisement.name() + "' is not published yet; wait for the publication");
        }
        return current.entry().head().entry();
    }

    @Override
    public Mono<EngineEntry> update(Map<String, RegionDescriptor> regions) {
        Map<String, RegionDescriptor> copy = Map.copyOf(regions);
        return writes.run(Mono.defer(() -> {
                    if (isOver.get()) {
                        return Mono.<Void>error(new DirectoryClosedException(
                                "the publication of '" + advertisement.name() + "' has ended; publish again"));
                    }
                    advertisement = advertisement.withRegions(copy);
                    return install(false);
                }))
                .then(Mono.fromSupplier(this::entry));
    }

    @Override
    public Mono<Void> withdraw() {
        return Mono.defer(() -> {
            boolean first = isOver.compareAndSet(false, true);
            nextBeat.dispose();
            Mono<Void> revoke = writes.run(Mono.defer(() -> {
                Installed current = installed;
                return current == null
                        ? Mono.empty()
                        : access.bounded(current.lease().revoke());
            }));
            return revoke.doFinally(end -> {
                if (first) {
                    onEnd.accept(this);
                    ended.tryEmitEmpty();
                }
            });
        });
    }

    @Override
    public Mono<Void> ended() {
        return ended.asMono();
    }

    private Duration beatInterval() {
        Duration part = access.options().leaseTime().dividedBy(BEATS_IN_A_LEASE);
        return part.compareTo(LONGEST_BEAT) < 0 ? part : LONGEST_BEAT;
    }

    private void scheduleBeat(Duration pause) {
        // Assigned before it starts: it may end, and the next one replace it, before the assignment.
        Disposable.Swap place = Disposables.swap();
        nextBeat.update(place);
        place.update(Mono.delay(pause)
                .then(writes.run(Mono.defer(this::beat)))
                .subscribe(ignored -> {}, this::beatFailed, () -> {
                    failures = 0;
                    log.succeeded();
                    if (!isOver.get()) {
                        scheduleBeat(beatInterval());
                    }
                }));
    }

    private void beatFailed(Throwable error) {
        if (error instanceof NameTakenException taken) {
            superseded(taken);
            return;
        }
        failures++;
        log.failed(error);
        if (!isOver.get()) {
            scheduleBeat(backoff.after(failures));
        }
    }

    private void superseded(NameTakenException taken) {
        if (isOver.compareAndSet(false, true)) {
            onEnd.accept(this);
            Installed current = installed;
            if (current != null) {
                // The lease does not remove a head that another publication wrote; remove the chunks.
                access.bounded(current.lease().revoke())
                        .subscribe(
                                ignored -> {},
                                error -> LOG.debug(
                                        "The parts of the entry '{}' are left to expire", advertisement.name(), error));
            }
            ended.tryEmitError(taken);
        }
    }

    private Mono<Void> beat() {
        if (isOver.get()) {
            return Mono.empty();
        }
        return currentHead().map(Optional::of).defaultIfEmpty(Optional.empty()).flatMap(found -> {
            Installed current = installed;
            if (found.isEmpty() || current == null) {
                return install(false);
            }
            EntryHead head = found.get();
            if (head.publication() != publication) {
                return Mono.error(taken(head));
            }
            if (head.entry().revision() != current.entry().head().entry().revision()) {
                return install(false);
            }
            return access.bounded(current.lease().keepAlive()).flatMap(alive -> alive ? Mono.empty() : install(false));
        });
    }

    private NameTakenException taken(EntryHead head) {
        return new NameTakenException("the name '" + advertisement.name() + "' belongs to the engine "
                + head.entry().address() + " now");
    }

    /** An unreadable head has no owner. */
    private Mono<EntryHead> currentHead() {
        return access.head(advertisement.name()).onErrorResume(DirectoryFormatException.class, damaged -> Mono.empty());
    }

    /** Stores the whole entry under a new lease, then revokes the old one. */
    private Mono<Void> install(boolean takeOver) {
        return access.attempts(advertisement.name(), () -> installOnce(takeOver))
                .then();
    }

    /** Empty if another publisher was faster. */
    private Mono<Boolean> installOnce(boolean takeOver) {
        Advertisement content = advertisement;
        return access.get(Keys.head(content.name()))
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(found -> {
                    byte @Nullable [] expected = found.orElse(null);
                    EntryHead head = expected == null ? null : readable(content.name(), expected);
                    if (head != null && head.publication() != publication && !takeOver) {
                        return Mono.error(taken(head));
                    }
                    EncodedEntry entry = EncodedEntry.of(content, publication, newRevision(head));
                    byte[] headBytes = entry.head().toBytes();
                    return access.bounded(access.store().grant(access.options().leaseTime()))
                            .flatMap(lease -> store(lease, entry, expected, headBytes)
                                    .doOnCancel(() -> drop(lease))
                                    .onErrorResume(error -> {
                                        drop(lease);
                                        return Mono.error(error);
                                    })
                                    .flatMap(stored -> {
                                        if (!stored) {
                                            drop(lease);
                                            return Mono.empty();
                                        }
                                        Installed before = installed;
                                        installed = new Installed(lease, entry);
                                        if (before != null) {
                                            drop(before.lease());
                                        }
                                        return Mono.just(true);
                                    }));
                });
    }

    private Mono<Boolean> store(StoreLease lease, EncodedEntry entry, byte @Nullable [] expected, byte[] headBytes) {
        return Flux.fromIterable(entry.chunks())
                .concatMap(chunk -> access.bounded(lease.put(List.of(chunk))))
                .then(access.bounded(
                        lease.replace(Keys.head(entry.head().entry().name()), expected, headBytes)));
    }

    /** No caller waits for the result: if it fails, the lease expires. */
    private static void drop(StoreLease lease) {
        lease.revoke()
                .timeout(DROP_TIMEOUT)
                .subscribe(ignored -> {}, error -> LOG.debug("A lease is left to expire", error));
    }

    private static @Nullable EntryHead readable(String name, byte[] bytes) {
        try {
            return EntryHead.fromBytes(name, bytes);
        } catch (DirectoryFormatException damaged) {
            return null;
        }
    }

    /** Greater than the revision before, and most likely also after an expired entry. */
    private static long newRevision(@Nullable EntryHead before) {
        // The clock has milliseconds only: the low bits are random, so that concurrent publishers differ.
        long drawn = ThreadLocalRandom.current().nextInt(MICROS_IN_A_MILLI);
        long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + drawn;
        return before == null ? now : Math.max(now, before.entry().revision() + 1 + drawn);
    }
}
