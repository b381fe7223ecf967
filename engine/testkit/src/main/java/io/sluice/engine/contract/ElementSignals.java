package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.VectoredTransferCallback;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Records a vectored transfer's results, and every breach of their rules. */
class ElementSignals implements VectoredTransferCallback {
    private final TerminalSignal terminal = new TerminalSignal();
    private final AtomicIntegerArray counts;
    private final AtomicReferenceArray<@Nullable SluiceException> errors;
    private final AtomicInteger reported = new AtomicInteger();
    private final AtomicInteger afterTerminal = new AtomicInteger();
    private final AtomicInteger overlapping = new AtomicInteger();
    private final AtomicBoolean inside = new AtomicBoolean();

    ElementSignals(int elements) {
        counts = new AtomicIntegerArray(elements);
        errors = new AtomicReferenceArray<>(elements);
    }

    @Override
    public void element(int index, @Nullable SluiceException error) {
        enter();
        if (terminal.ended()) {
            afterTerminal.incrementAndGet();
        }
        counts.incrementAndGet(index);
        errors.set(index, error);
        int soFar = reported.incrementAndGet();
        elementReported(soFar);
        inside.set(false);
    }

    /** For tests that act in the middle. */
    void elementReported(int soFar) {}

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        enter();
        terminal.terminated(transfer, error);
        inside.set(false);
    }

    private void enter() {
        if (!inside.compareAndSet(false, true)) {
            overlapping.incrementAndGet();
        }
    }

    TerminalSignal terminal() {
        return terminal;
    }

    int reported() {
        return reported.get();
    }

    Optional<SluiceException> error(int index) {
        return Optional.ofNullable(errors.get(index));
    }

    /** Checks the invariants of every vectored transfer that has ended. */
    void assertSerialAndTerminalLast() {
        assertThat(terminal.count()).as("terminal signals").isEqualTo(1);
        assertThat(afterTerminal).as("elements after the terminal signal").hasValue(0);
        assertThat(overlapping).as("calls that overlapped").hasValue(0);
        for (int index = 0; index < counts.length(); index++) {
            if (counts.get(index) > 1) {
                assertThat(counts.get(index)).as("results of element %d", index).isEqualTo(1);
            }
        }
    }

    void assertEachElementOnce() {
        assertSerialAndTerminalLast();
        for (int index = 0; index < counts.length(); index++) {
            if (counts.get(index) != 1) {
                assertThat(counts.get(index)).as("results of element %d", index).isEqualTo(1);
            }
        }
    }
}
