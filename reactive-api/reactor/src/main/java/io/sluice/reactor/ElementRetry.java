package io.sluice.reactor;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.util.retry.Retry;
import reactor.util.retry.RetryBackoffSpec;
import reactor.util.retry.RetrySpec;

/**
 * One subscriber's attempts. The fields need no synchronization: signals are serial, and an attempt starts after the
 * previous one has ended.
 */
final class ElementRetry {
    private final List<TransferElement> elements;
    private final Function<? super List<TransferElement>, ? extends Flux<TransferResult>> attempt;
    private final Retry spec;
    private final Predicate<? super SluiceException> retryable;

    /** Which elements have their final result. */
    private final boolean[] settled;

    /** The error of the last attempt of each element that is not settled. */
    private final @Nullable SluiceException[] errors;

    /** The positions of the elements of the current attempt. */
    private int[] pending = new int[0];

    /** The error of an attempt as a whole, which belongs to no element. */
    private @Nullable Throwable breakage;

    private int failed;
    private @Nullable SluiceException firstError;

    ElementRetry(
            List<TransferElement> elements,
            Function<? super List<TransferElement>, ? extends Flux<TransferResult>> attempt,
            Retry spec,
            Predicate<? super SluiceException> retryable) {
        this.elements = elements;
        this.attempt = attempt;
        this.spec = spec;
        this.retryable = retryable;
        this.settled = new boolean[elements.size()];
        this.errors = new SluiceException[elements.size()];
    }

    Flux<TransferResult> results() {
        return Flux.defer(this::nextAttempt)
                .retryWhen(spec)
                .onErrorResume(this::giveUp)
                .concatWith(Flux.defer(this::remaining))
                .concatWith(Mono.defer(this::verdict));
    }

    private Flux<TransferResult> nextAttempt() {
        pending = unsettled();
        breakage = null;
        for (int place : pending) {
            errors[place] = null;
        }
        if (pending.length == 0) {
            return Flux.empty();
        }
        List<TransferElement> again =
                IntStream.of(pending).mapToObj(elements::get).toList();
        return Flux.defer(() -> attempt.apply(again))
                .handle(this::sort)
                .onErrorResume(this::attemptFailed)
                .concatWith(Mono.defer(this::attemptEnded));
    }

    /** Passes on final results and keeps those that may be retried. */
    private void sort(TransferResult result, SynchronousSink<TransferResult> sink) {
        int place = pending[result.element()];
        SluiceException error = result.error();
        if (error != null && mayRetry(error)) {
            errors[place] = error;
        } else {
            sink.next(settle(place, result.bytes(), error));
        }
    }

    private TransferResult settle(int place, long bytes, @Nullable SluiceException error) {
        settled[place] = true;
        if (error != null) {
            failed++;
            firstError = firstError == null ? error : firstError;
        }
        return new TransferResult(place, bytes, error);
    }

    private Flux<TransferResult> attemptFailed(Throwable error) {
        if (error instanceof ElementsFailedException) {
            // Each of its elements has already reported its error.
            return Flux.empty();
        }
        if (!(error instanceof SluiceException failure)) {
            breakage = error;
            return Flux.empty();
        }
        boolean again = mayRetry(failure);
        return Flux.fromStream(() -> IntStream.of(pending)
                        .filter(place -> !settled[place] && errors[place] == null)
                        .boxed())
                .handle((place, sink) -> {
                    if (again) {
                        errors[place] = failure;
                    } else {
                        sink.next(settle(place, 0, failure));
                    }
                });
    }

    /**
     * Ends the attempt with the error that the specification decides about, or without an error if nothing is left to
     * retry.
     */
    private Mono<TransferResult> attemptEnded() {
        if (breakage != null) {
            return Mono.error(breakage);
        }
        SluiceException first = null;
        for (int place : unsettled()) {
            SluiceException error = errors[place];
            if (error == null) {
                breakage = new IllegalStateException("the attempt ended without a result for element " + place);
                return Mono.error(breakage);
            }
            first = first == null ? error : first;
        }
        return first == null ? Mono.empty() : Mono.error(first);
    }

    /** Ends when the specification gives up. Its error says only that; each element has a better one. */
    private Flux<TransferResult> giveUp(Throwable error) {
        return breakage == null ? Flux.empty() : Flux.error(breakage);
    }

    /**
     * Emits the elements that are not settled as failures, even if the specification ended the retries without an
     * error.
     */
    private Flux<TransferResult> remaining() {
        return Flux.fromStream(() -> IntStream.of(unsettled()).boxed()).handle((place, sink) -> {
            SluiceException error = errors[place];
            if (error == null) {
                sink.error(new IllegalStateException("element " + place + " was left without a result"));
            } else {
                sink.next(settle(place, 0, error));
            }
        });
    }

    private Mono<TransferResult> verdict() {
        SluiceException first = firstError;
        return first == null ? Mono.empty() : Mono.error(new ElementsFailedException(failed, elements.size(), first));
    }

    private boolean mayRetry(SluiceException error) {
        if (!retryable.test(error)) {
            return false;
        }
        return switch (spec) {
            case RetrySpec counted -> counted.errorFilter.test(error);
            case RetryBackoffSpec backedOff -> backedOff.errorFilter.test(error);
            default -> true;
        };
    }

    private int[] unsettled() {
        return IntStream.range(0, settled.length)
                .filter(place -> !settled[place])
                .toArray();
    }
}
