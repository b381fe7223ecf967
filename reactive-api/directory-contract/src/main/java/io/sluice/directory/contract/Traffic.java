package io.sluice.directory.contract;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Serial transfers between two engines while it is open. */
final class Traffic implements AutoCloseable {
    private static final int BYTES = 1 << 16;
    private static final int ENOUGH = 100;

    private final AtomicLong transfers = new AtomicLong();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final Disposable writes;

    private Traffic(Mono<?> write) {
        writes = write.doOnNext(done -> transfers.incrementAndGet())
                .delayElement(Duration.ofMillis(1))
                .repeat()
                .subscribe(done -> {}, errors::add);
    }

    /**
     * Starts.
     *
     * @param here the writing engine
     * @param there the listening engine
     */
    static Traffic between(ReactiveTransferEngine here, ReactiveTransferEngine there) {
        MemoryRegion target = there.allocate(BYTES, RegionOptions.readWrite());
        MemoryRegion source = here.allocate(BYTES, RegionOptions.local());
        ReactiveConnection connection =
                here.connect(there.address()).blockOptional(Patience.BOUND).orElseThrow();
        return new Traffic(
                connection.attach(target.descriptor()).cache().flatMap(remote -> connection.write(source, remote, 0)));
    }

    /** Waits until a number of further transfers have succeeded. */
    void goesOn() {
        long soFar = transfers.get();
        Awaitility.await("transfers go on")
                .atMost(Patience.BOUND)
                .failFast("transfers fail: " + errors, () -> !errors.isEmpty())
                .until(() -> transfers.get() > soFar + ENOUGH);
    }

    /** The failures; the first one ends the traffic. */
    List<Throwable> errors() {
        return errors;
    }

    @Override
    public void close() {
        writes.dispose();
    }
}
