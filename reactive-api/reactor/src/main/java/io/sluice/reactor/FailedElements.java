package io.sluice.reactor;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import reactor.core.publisher.Flux;
import reactor.util.retry.Retry;

/** Retries the elements of a vectored transfer that failed, and those alone. */
public final class FailedElements {
    private FailedElements() {}

    /**
     * As {@link #retry(List, Function, Retry, Predicate)} for every error but {@link OutcomeUnknownException}: such a
     * write may still reach the target after a later one, so only the caller can say whether writing again is safe.
     *
     * @param elements all elements
     * @param attempt transfers some of them
     * @param spec when to retry, how often and after how long
     * @return one result an element
     */
    public static Flux<TransferResult> retry(
            List<TransferElement> elements,
            Function<? super List<TransferElement>, ? extends Flux<TransferResult>> attempt,
            Retry spec) {
        return retry(elements, attempt, spec, error -> !(error instanceof OutcomeUnknownException));
    }

    /**
     * Transfers all elements, then those that failed again, as often as the retry specification allows.
     *
     * <p>A success is emitted when it happens; its {@link TransferResult#element()} is the place in {@code elements},
     * whichever attempt it was. A failure is emitted once it is final: at once if its error is not to be retried,
     * otherwise when the specification gives up. If any failed for good, the Flux then ends with
     * {@link ElementsFailedException}.
     *
     * <p>An error is retried if both {@code retryable} and the filter of the specification
     * ({@link reactor.util.retry.RetrySpec#filter} or {@link reactor.util.retry.RetryBackoffSpec#filter}) accept it; a
     * specification of another kind has no filter to ask, and decides for a whole attempt, given the first of its
     * errors. An attempt with at least one success resets the count of {@link Retry#maxInARow(long)}. An attempt
     * that fails as a whole, and not with {@link ElementsFailedException}, counts as that failure of each element that
     * has no result; an error that is no {@link SluiceException} ends the Flux itself if it is not retried.
     *
     * <p>The Flux is cold: each subscriber starts from all elements.
     *
     * @param elements all elements; copied
     * @param attempt transfers some of them: given elements in their original order, it gives a Flux with one result
     *     for each, numbered by the place in the list that it was given. {@code connection::writeVectored} is one;
     *     another may first {@code attach} the regions on a new connection
     * @param spec when to retry, how often and after how long
     * @param retryable which errors may be retried at all
     * @return one result an element
     */
    public static Flux<TransferResult> retry(
            List<TransferElement> elements,
            Function<? super List<TransferElement>, ? extends Flux<TransferResult>> attempt,
            Retry spec,
            Predicate<? super SluiceException> retryable) {
        List<TransferElement> all = List.copyOf(elements);
        Objects.requireNonNull(attempt, "attempt");
        Objects.requireNonNull(spec, "spec");
        Objects.requireNonNull(retryable, "retryable");
        return Flux.defer(() -> new ElementRetry(all, attempt, spec, retryable).results());
    }
}
