package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records how a transfer ended, and how often. */
final class TerminalSignal implements TransferCallback {
    private final AtomicInteger count = new AtomicInteger();
    private final CompletableFuture<Optional<SluiceException>> first = new CompletableFuture<>();
    private volatile @Nullable Transfer transfer;
    private volatile @Nullable Thread thread;
    private volatile long endedAt;

    @Override
    public void terminated(Transfer ended, @Nullable SluiceException error) {
        count.incrementAndGet();
        transfer = ended;
        thread = Thread.currentThread();
        endedAt = System.nanoTime();
        first.complete(Optional.ofNullable(error));
    }

    boolean ended() {
        return first.isDone();
    }

    int count() {
        return count.get();
    }

    /** The transfer that the callback was given; null before the end. */
    @Nullable
    Transfer transfer() {
        return transfer;
    }

    /** The thread that called back; null before the end. */
    @Nullable
    Thread thread() {
        return thread;
    }

    /** The time of the end, by {@link System#nanoTime()}. */
    long endedAt() {
        return endedAt;
    }

    /** Waits for the end; empty for success. */
    Optional<SluiceException> await() {
        return Patience.await(first);
    }

    Optional<SluiceException> await(Duration bound) {
        return Patience.await(first, bound);
    }

    void awaitSuccess() {
        assertSuccess(await());
    }

    void awaitSuccess(Duration bound) {
        assertSuccess(await(bound));
    }

    private static void assertSuccess(Optional<SluiceException> error) {
        if (error.isPresent()) {
            throw new AssertionError("expected success", error.get());
        }
    }

    <E extends SluiceException> E awaitFailure(Class<E> type) {
        Optional<SluiceException> error = await();
        assertThat(error).as("expected %s, not success", type.getSimpleName()).isPresent();
        assertThat(error.get()).isInstanceOf(type);
        return type.cast(error.get());
    }

    static long ended(Collection<TerminalSignal> signals) {
        return signals.stream().filter(TerminalSignal::ended).count();
    }

    static void awaitAll(Collection<TerminalSignal> signals) {
        awaitAll(signals, Patience.BOUND);
    }

    /** One bound for all of them together. */
    static void awaitAll(Collection<TerminalSignal> signals, Duration bound) {
        Patience.until(
                "all " + signals.size() + " transfers ended",
                bound,
                () -> signals.stream().allMatch(TerminalSignal::ended));
    }

    /** Waits for all. The errors of those that failed. */
    static List<SluiceException> awaitErrors(Collection<TerminalSignal> signals) {
        awaitAll(signals);
        return signals.stream()
                .map(TerminalSignal::await)
                .flatMap(Optional::stream)
                .toList();
    }

    /** Waits for all, lets late second signals come, and checks that there was none. The errors of those that failed. */
    static List<SluiceException> awaitAllOnce(Collection<TerminalSignal> signals) {
        List<SluiceException> errors = awaitErrors(signals);
        Patience.pause(Duration.ofMillis(50));
        assertThat(signals).allSatisfy(signal -> assertThat(signal.count()).isEqualTo(1));
        return errors;
    }

    static void awaitAllSuccess(Collection<TerminalSignal> signals) {
        awaitAll(signals);
        signals.forEach(TerminalSignal::awaitSuccess);
    }
}
