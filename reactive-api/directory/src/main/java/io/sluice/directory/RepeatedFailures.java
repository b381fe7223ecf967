package io.sluice.directory;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Logs repeated failures at WARN and the recovery at INFO. Logs the first failure at DEBUG only, the second in a row at
 * once, and later ones every half minute with their number. May be used from any thread.
 */
final class RepeatedFailures {
    static final Duration INTERVAL = Duration.ofSeconds(30);

    private final Logger log;
    private final String what;
    private final LongSupplier nanoTime;
    private int failures;
    private boolean isWarned;
    private long warnedAt;

    /** Creates a log whose messages begin with a subject, such as "the entry 'decode/7' cannot be renewed". */
    RepeatedFailures(Logger log, String what) {
        this(log, what, System::nanoTime);
    }

    RepeatedFailures(Logger log, String what, LongSupplier nanoTime) {
        this.log = log;
        this.what = what;
        this.nanoTime = nanoTime;
    }

    synchronized void failed(Throwable error) {
        failures++;
        log.debug("{}, {} failures in a row", what, failures, error);
        long now = nanoTime.getAsLong();
        if (failures > 1 && (!isWarned || now - warnedAt >= INTERVAL.toNanos())) {
            isWarned = true;
            warnedAt = now;
            log.warn(
                    "{}, {} failures in a row, and is tried again; the last one: {}", what, failures, error.toString());
        }
    }

    synchronized void succeeded() {
        if (isWarned) {
            log.info("{}: recovered after {} failures", what, failures);
        }
        failures = 0;
        isWarned = false;
    }
}
