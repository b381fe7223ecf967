package io.sluice.cuda;

import io.sluice.engine.DeviceMetrics.Unit;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counters of the work that one loop has given one GPU. Only the loop's thread adds, so that an addition costs no atomic instruction; any thread reads. */
final class WorkCounters {
    private static final int BYTES_AT = Unit.values().length;
    private static final int REQUESTS_AT = BYTES_AT + Unit.values().length;
    private static final int NANOS_AT = REQUESTS_AT + 1;

    private final AtomicLongArray values = new AtomicLongArray(NANOS_AT + 1);

    private void add(int index, long delta) {
        values.setOpaque(index, values.getPlain(index) + delta);
    }

    void launched(Unit unit, long bytes) {
        add(unit.ordinal(), 1);
        add(BYTES_AT + unit.ordinal(), bytes);
    }

    void done(long nanos) {
        add(REQUESTS_AT, 1);
        add(NANOS_AT, nanos);
    }

    long launches(Unit unit) {
        return values.getOpaque(unit.ordinal());
    }

    long bytes(Unit unit) {
        return values.getOpaque(BYTES_AT + unit.ordinal());
    }

    long requests() {
        return values.getOpaque(REQUESTS_AT);
    }

    long nanos() {
        return values.getOpaque(NANOS_AT);
    }
}
