package io.sluice.reactor;

import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import reactor.core.scheduler.Schedulers;

/** Starts of what is prepared on a GPU. */
final class GpuRun {
    private GpuRun() {}

    /**
     * Starts something. If it throws, nothing was started.
     *
     * @param what is started
     * @param waits makes a wait for its numbers
     * @param start returns its number
     * @return it, once the GPU is through with it
     */
    static <C> CompletableFuture<C> of(C what, Function<SignalCallback, SignalWait> waits, LongSupplier start) {
        CompletableFuture<C> end = new CompletableFuture<>();
        SignalWait wait = waits.apply((reached, number, error) -> {
            reached.close();
            if (error == null) {
                end.complete(what);
            } else {
                end.completeExceptionally(error);
            }
        });
        long number;
        try {
            number = start.getAsLong();
        } catch (Throwable thrown) {
            wait.close();
            throw thrown;
        }
        wait.arm(number);
        return end;
    }

    /** Calls what takes the driver too long for a poller on a thread that may block. */
    static <T> CompletableFuture<T> elsewhere(Supplier<CompletableFuture<T>> call) {
        return CompletableFuture.supplyAsync(
                        call, task -> Schedulers.boundedElastic().schedule(task))
                .thenCompose(Function.identity());
    }
}
