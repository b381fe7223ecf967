package io.sluice.engine.bootstrap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs why sockets are refused, at most a few times a second and with the number of suppressed lines, as strangers can
 * cause any number. Thread-safe.
 */
final class RefusalLog {
    /** The most lines a second. */
    static final int LINES = 4;

    private static final long PERIOD_NANOS = 1_000_000_000L;

    private final Logger log;
    private long periodBegan;
    private int lines;
    private long leftOut;

    RefusalLog(Logger log, long now) {
        this.log = log;
        this.periodBegan = now;
    }

    void log(Level level, String message, @Nullable Throwable cause) {
        if (!log.isEnabledForLevel(level)) {
            return;
        }
        long before = takeLine(System.nanoTime());
        if (before >= 0) {
            LoggingEventBuilder event = log.atLevel(level);
            if (cause != null) {
                event = event.setCause(cause);
            }
            event.log(before == 0 ? message : message + " (" + before + " more such lines were suppressed)");
        }
    }

    /** How many were left out since the last line; negative if this one is left out. */
    synchronized long takeLine(long now) {
        if (now - periodBegan >= PERIOD_NANOS) {
            periodBegan = now;
            lines = 0;
        }
        if (lines == LINES) {
            leftOut++;
            return -1;
        }
        lines++;
        long before = leftOut;
        leftOut = 0;
        return before;
    }
}
