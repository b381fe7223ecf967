package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the drivers of all connections, round by round. Without verification a phase is one round; with it a round ends when
 * each target was used once, its bytes are compared while the clock stands still, and another one follows.
 */
final class Rounds {

    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration GRACE = Duration.ofSeconds(120);

    private final List<Driver> drivers;
    private final MemoryRegion local;
    private final RemoteRegion[] remotes;
    private final @Nullable Content checked;
    private final long roundTransfers;
    private final BooleanSupplier interrupted;
    private long differing;

    /**
     * For these.
     *
     * @param drivers one for each connection
     * @param local for what starts a round
     * @param remotes for each connection, for the same
     * @param checked what to compare after each round; {@code null} for nothing
     * @param roundTransfers how many each driver makes in a round
     * @param interrupted whether to break off
     */
    Rounds(
            List<Driver> drivers,
            MemoryRegion local,
            List<RemoteRegion> remotes,
            @Nullable Content checked,
            long roundTransfers,
            BooleanSupplier interrupted) {
        this.drivers = List.copyOf(drivers);
        this.local = local;
        this.remotes = remotes.toArray(RemoteRegion[]::new);
        this.checked = checked;
        this.roundTransfers = roundTransfers;
        this.interrupted = interrupted;
    }

    /** Runs for a time, or until something fails. */
    void run(Duration time, Usage usage) {
        drivers.forEach(Driver::reset);
        while (usage.nanos() < time.toNanos() && drivers.stream().noneMatch(Driver::isStopped)) {
            round(time.toNanos() - usage.nanos(), usage);
        }
    }

    /** Elements that were not what was sent, in all rounds. */
    long differing() {
        return differing;
    }

    private void round(long nanos, Usage usage) {
        if (checked != null) {
            checked.renew();
        }
        drivers.forEach(driver -> driver.prepare(roundTransfers, nanos));
        usage.begin();
        for (int i = 0; i < remotes.length; i++) {
            start(drivers.get(i), remotes[i]);
        }
        await(nanos);
        usage.end();
        long began = drivers.stream().mapToLong(Driver::startedAt).min().orElse(0);
        long ended = drivers.stream().mapToLong(Driver::endedAt).max().orElse(0);
        usage.add(Math.max(1, ended - began));
        if (checked != null && drivers.stream().noneMatch(Driver::isStopped)) {
            differing +=
                    checked.differing(drivers.stream().map(Driver::submitted).toList());
        }
    }

    /** On its poller, so that what it starts is handed over as one: a transfer of no bytes brings us there. */
    private void start(Driver driver, RemoteRegion remote) {
        driver.connection().read(local, 0, remote, 0, 0, TransferOptions.defaults(), (transfer, error) -> {
            if (error == null) {
                driver.start();
            } else {
                driver.abandon(error);
            }
        });
    }

    private void await(long nanos) {
        CountDownLatch all = new CountDownLatch(drivers.size());
        drivers.forEach(driver -> driver.ended().thenRun(all::countDown));
        long deadline = System.nanoTime() + nanos + GRACE.toNanos();
        while (!hasEnded(all)) {
            if (interrupted.getAsBoolean()) {
                drivers.forEach(Driver::stop);
                throw BenchException.failed("interrupted");
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
}
