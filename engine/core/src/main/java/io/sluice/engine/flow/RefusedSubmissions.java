package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.SluiceException;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/**
 * Operations that callers submitted over one transport to connections that had ended. For callers they failed like
 * operations in flight at the end. Thread-safe.
 */
public final class RefusedSubmissions {
    private final LongAdder[] operations = adders(Operation.values().length);
    private final LongAdder[] bytes = adders(Operation.values().length);
    private final LongAdder[] errors = adders(ErrorKind.values().length);

    /** All zero. */
    public RefusedSubmissions() {}

    private static LongAdder[] adders(int count) {
        LongAdder[] made = new LongAdder[count];
        Arrays.setAll(made, any -> new LongAdder());
        return made;
    }

    /** Counts a submission; each element of it counts. */
    void count(Operation kind, int elements, long moved, SluiceException error) {
        operations[kind.ordinal()].add(elements);
        bytes[kind.ordinal()].add(moved);
        errors[ErrorKind.of(error).ordinal()].add(elements);
    }

    /**
     * Returns the number of refused operations; each element counts.
     *
     * @param operation of which kind
     * @return the count
     */
    public long operations(Operation operation) {
        return operations[operation.ordinal()].sum();
    }

    /**
     * Returns the bytes that they were to move.
     *
     * @param operation of which kind
     * @return bytes
     */
    public long bytes(Operation operation) {
        return bytes[operation.ordinal()].sum();
    }

    /**
     * How many there were, by the reason.
     *
     * @param kind of error that the connection had ended with
     * @return the count
     */
    public long errors(ErrorKind kind) {
        return errors[kind.ordinal()].sum();
    }
}
