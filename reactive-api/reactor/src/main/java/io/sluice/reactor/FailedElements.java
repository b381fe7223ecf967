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

/** Retries only those elements of a vectored transfer that failed. */
public final class FailedElements {
    private FailedElements() {}

    /**
     * Retries as {@link #retry(List, Function, Retry, Predicate)} does, for every error except {@link
     * OutcomeUnknownException}: such a write may still reach the target after a later one, so only the caller can
     * decide whether to write again.
     *
     * @param elements all elements
     * @param attempt transfers some of the elements
     * @param spec when to retry, how often and after how long
     * @return one result for each element
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
     * <p>A success is emitted when it happens; its {@link TransferResult#element()} is the position in {@code
     * elements}, in any attempt. A failure is emitted when it is final: immediately if its error is not retried,
     * otherwise when the specification gives up. If any element failed finally, the Flux ends with {@link
     * ElementsFailedException}.
     *
     * <p>An error is retried if both {@code retryable} and the filter of the specification ({@link
     * reactor.util.retry.RetrySpec#filter} or {@link reactor.util.retry.RetryBackoffSpec#filter}) accept it; another
     * kind of specification has no filter and decides about a whole attempt by its first error. An attempt with at
     * least one success resets the count of {@link Retry#maxInARow(long)}. An attempt that fails as a whole with
     * another error than {@link ElementsFailedException} counts as that failure of each element without a result; if
     * the error is not a {@link SluiceException} and is not retried, it ends the Flux.
     *
     * <p>The Flux is cold: each subscriber starts from all elements.
     *
     * @param elements all elements; copied
     * @param attempt transfers some of the elements: for a list of elements in their original order it returns a Flux
     *     with one result each, numbered by position in that list. An example is {@code connection::writeVectored};
     *     another may first {@code attach} the regions on a new connection
     * @param spec when to retry, how often and after how long
     * @param retryable which errors may be retried at all
     * @return one result for each element
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
