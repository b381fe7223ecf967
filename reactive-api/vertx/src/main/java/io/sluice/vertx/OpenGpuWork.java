package io.sluice.vertx;

import io.sluice.collectives.Team;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.vertx.core.Future;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A GPU team or an expert buffer on GPUs among the work of a client, which closes it.
 *
 * @param client the client
 * @param closing closes it; again it has the same result
 */
record OpenGpuWork(ClientContext client, Supplier<CompletableFuture<Void>> closing) implements TransferHandle<Void> {
    /**
     * Opens one on a worker thread, as the driver takes milliseconds; those of a context one after another.
     *
     * @param <T> what is opened
     * @param <R> its face
     */
    static <T, R> Future<R> open(
            ClientContext client,
            Team team,
            Supplier<CompletableFuture<T>> opening,
            Function<T, CompletableFuture<Void>> closing,
            BiFunction<OpenGpuWork, T, R> face) {
        try {
            return client.mailbox()
                    .context()
                    .executeBlocking(opening::get, true)
                    .map(Objects::requireNonNull)
                    .compose(forming -> client.answer(() -> forming.thenApply(
                            opened -> face.apply(begun(client, team, () -> closing.apply(opened)), opened))));
        } catch (RejectedExecutionException poolClosed) {
            return client.answer(() -> CompletableFuture.failedFuture(poolClosed));
        }
    }

    private static OpenGpuWork begun(ClientContext client, Team team, Supplier<CompletableFuture<Void>> closing) {
        OpenGpuWork open = new OpenGpuWork(client, closing);
        if (!client.begin(open)) {
            open.cancel();
            throw OpenWork.clientClosed();
        }
        // an engine that is closed ends its teams, and knows nothing of streams and kernels
        team.ended().whenComplete((nothing, error) -> {
            client.end(open);
            open.cancel();
        });
        return open;
    }

    /** Starts what is prepared; the future completes with it when the GPU is through with it. */
    <C> Future<C> run(C what, Function<SignalCallback, SignalWait> waits, LongSupplier start) {
        return EngineCall.start(client, end -> {
            SignalWait wait = waits.apply((reached, number, error) -> {
                reached.close();
                end.finish(error == null ? what : null, error);
            });
            long number;
            try {
                number = start.getAsLong();
            } catch (RuntimeException refused) {
                wait.close();
                throw refused;
            }
            wait.arm(number);
        });
    }

    /** Closes it before its client. */
    Future<Void> close() {
        return client.answer(() -> closing.get().whenComplete((nothing, error) -> client.end(this)));
    }

    @Override
    public Future<Void> result() {
        return client.answer(closing);
    }

    @Override
    public void cancel() {
        CompletableFuture<Void> unused = closing.get();
    }

    @Override
    public Future<Void> quiesced() {
        return result();
    }
}
