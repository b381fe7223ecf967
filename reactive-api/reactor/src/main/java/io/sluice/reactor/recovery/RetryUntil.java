package io.sluice.reactor.recovery;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Retries transient failures with the pauses of the options, for at most {@link ReconnectOptions#maxWait()}; then the
 * last failure is final.
 */
final class RetryUntil extends Retry {
    private final Predicate<Throwable> forNow;
    private final ReconnectOptions options;
    private final LongSupplier nanoTime;

    RetryUntil(Predicate<Throwable> forNow, ReconnectOptions options, LongSupplier nanoTime) {
        this.forNow = forNow;
        this.options = options;
        this.nanoTime = nanoTime;
    }

    @Override
    public Publisher<?> generateCompanion(Flux<RetrySignal> signals) {
        return Flux.defer(() -> {
            long end = nanoTime.getAsLong() + options.maxWait().toNanos();
            return signals.concatMap(signal -> next(signal.failure(), signal.totalRetries(), end));
        });
    }

    private Mono<Long> next(Throwable failure, long retries, long end) {
        Duration pause = options.pauseAfter((int) Math.min(retries + 1, Integer.MAX_VALUE));
        boolean inTime = end - nanoTime.getAsLong() >= pause.toNanos();
        return forNow.test(failure) && inTime ? Mono.delay(pause) : Mono.error(failure);
    }
}
