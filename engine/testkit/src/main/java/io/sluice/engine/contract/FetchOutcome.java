package io.sluice.engine.contract;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Records how an atomic operation ended, how often, and what it fetched. */
final class FetchOutcome implements FetchCallback {
    private final TerminalSignal terminal = new TerminalSignal();
    private volatile long previous;

    @Override
    public void terminated(Transfer transfer, long word, @Nullable SluiceException error) {
        previous = word;
        terminal.terminated(transfer, error);
    }

    TerminalSignal terminal() {
        return terminal;
    }

    /** The callback's result; valid after the end. */
    long previous() {
        return previous;
    }

    /** Waits for success; returns the previous value of the word. */
    long awaitPrevious() {
        terminal.awaitSuccess();
        return previous;
    }

    <E extends SluiceException> E awaitFailure(Class<E> type) {
        return terminal.awaitFailure(type);
    }

    Optional<SluiceException> await() {
        return terminal.await();
    }

    static void awaitAll(Collection<FetchOutcome> outcomes) {
        TerminalSignal.awaitAll(outcomes.stream().map(FetchOutcome::terminal).toList());
    }
}
