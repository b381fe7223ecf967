package io.sluice.samples.bench;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs the drivers of all connections, round by round. Without verification a phase is one round; with it a round ends when
 * each target was used once, its bytes are compared while the clock stands still, and another one follows. Each driver
 * begins a round on a thread of its own, which it keeps if the transport carries transfers out on the caller's.
 */
final class Rounds implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration GRACE = Duration.ofSeconds(120);

    private final List<Driver> drivers;
    private final @Nullable Content checked;
    private final long roundTransfers;
    private final BooleanSupplier interrupted;
    private final ExecutorService threads = Executors.newCachedThreadPool(Thread.ofPlatform()
            .daemon()
            .name(Usage.TransferThreads.DRIVER_PREFIX, 0)
            .factory());
    private long differing;

    /**
     * For these.
     *
     * @param checked what to compare after each round; {@code null} for nothing
     * @param roundTransfers how many each driver makes in a round
     */
    Rounds(List<Driver> drivers, @Nullable Content checked, long roundTransfers, BooleanSupplier interrupted) {
        this.drivers = List.copyOf(drivers);
        this.checked = checked;
        this.roundTransfers = roundTransfers;
        this.interrupted = interrupted;
    }

    /** Warms up and measures for a time, or until something fails. */
    void run(Duration warmup, Duration time, Usage warmupUsage, Usage usage) {
        if (checked != null || warmup.isZero()) {
            run(warmup, warmupUsage);
            run(time, usage);
        } else {
            runWarming(warmup, time, warmupUsage, usage);
        }
    }

    /** Warms up in turns with something else, until the JVM has compiled both. */
    void warmInTurns(Duration least, Duration turn, Usage usage, Consumer<Duration> other) {
        drivers.forEach(Driver::reset);
        WarmupEnd end = new WarmupEnd(least);
        while (!end.isReached(usage.nanos()) && drivers.stream().noneMatch(Driver::isStopped)) {
            round(turn.toNanos(), usage);
            other.accept(turn);
        }
    }

    /** Measures in turns with something else, so that both find the machine alike. */
    void runInTurns(Duration time, Duration turn, Usage usage, Consumer<Duration> other) {
        drivers.forEach(Driver::reset);
        while (usage.nanos() < time.toNanos() && drivers.stream().noneMatch(Driver::isStopped)) {
            round(turn.toNanos(), usage);
            other.accept(turn);
        }
    }

    private void runWarming(Duration warmup, Duration time, Usage warmupUsage, Usage usage) {
        drivers.forEach(Driver::reset);
        drivers.forEach(driver -> driver.prepareWarming(time.toNanos()));
        warmupUsage.begin();
        drivers.forEach(driver -> threads.execute(driver::run));
        awaitWarm(warmup);
        warmupUsage.end();
        drivers.forEach(Driver::count);
        await(Driver::counted, 0);
        usage.begin();
        await(Driver::ended, time.toNanos());
        usage.end();
        addTime(usage);
    }

    private void awaitWarm(Duration least) {
        long began = System.nanoTime();
        WarmupEnd end = new WarmupEnd(least);
        while (!end.isReached(System.nanoTime() - began)
                && !drivers.stream().allMatch(driver -> driver.ended().isDone())) {
            if (interrupted.getAsBoolean()) {
                throw interrupted();
            }
            pause(LOOK);
        }
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    private BenchException interrupted() {
        drivers.forEach(Driver::stop);
        return BenchException.failed("interrupted");
    }

    private void run(Duration time, Usage usage) {
        drivers.forEach(Driver::reset);
        while (usage.nanos() < time.toNanos() && drivers.stream().noneMatch(Driver::isStopped)) {
            round(time.toNanos() - usage.nanos(), usage);
        }
    }

    long differing() {
        return differing;
    }

    private void round(long nanos, Usage usage) {
        if (checked != null) {
            checked.renew();
        }
        drivers.forEach(driver -> driver.prepare(roundTransfers, nanos));
        usage.begin();
        drivers.forEach(driver -> threads.execute(driver::run));
        await(Driver::ended, nanos);
        usage.end();
        addTime(usage);
        if (checked != null && drivers.stream().noneMatch(Driver::isStopped)) {
            differing +=
                    checked.differing(drivers.stream().map(Driver::submitted).toList());
        }
    }

    private void addTime(Usage usage) {
        long began = drivers.stream().mapToLong(Driver::startedAt).min().orElse(0);
        long ended = drivers.stream().mapToLong(Driver::endedAt).max().orElse(0);
        usage.add(Math.max(1, ended - began));
    }

    private void await(Function<Driver, CompletableFuture<Void>> moment, long nanos) {
        CountDownLatch all = new CountDownLatch(drivers.size());
        drivers.forEach(driver -> moment.apply(driver).thenRun(all::countDown));
        long deadline = System.nanoTime() + nanos + GRACE.toNanos();
        while (!hasEnded(all)) {
            if (interrupted.getAsBoolean()) {
                throw interrupted();
            }
            if (System.nanoTime() - deadline > 0) {
                throw BenchException.failed("transfers did not end within " + GRACE.toSeconds() + " s");
            }
        }
    }

    /** Without garbage, as what this process allocates meanwhile is measured. */
    private static boolean hasEnded(CountDownLatch all) {
        try {
            return all.await(LOOK.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    /** Gives the threads back. Stops tasks that still run because waiting for them has ended early. */
    @Override
    public void close() {
        drivers.forEach(Driver::stop);
        threads.shutdown();
    }
}
