package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.ThreadingModel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Brings what pollers have finished to a context. An event loop gets all that a poller finds in a duty cycle, and all that comes
 * until the loop runs, as one task, so that many transfers wake it once. On other contexts each delivery is a task of its own: a
 * handler there may await a later delivery.
 *
 * <p>Nothing is ever handed over inside {@link #deliver}, not even by the context's own thread: so a chain of transfers that
 * complete at once does not deepen the stack.
 */
// a mark is told by identity; nothing depends on yielding
@SuppressWarnings({"ReferenceEquality", "ThreadPriorityCheck"})
final class ContextMailbox implements Handler<Void> {
    /** Something that is handed over to a context once. */
    abstract static class Delivery {
        /** The one that came before it; for the mailbox alone. */
        private @Nullable Delivery earlier;

        /** Hands it over. On the context, unless that takes no work any more; it must not throw. */
        abstract void deliver();
    }

    /** How often the loop is kept for what has come meanwhile. */
    private static final int MOST_TURNS = 16;

    /** After so many deliveries others have the loop, however few the turns were. */
    private static final int MOST_DELIVERIES = 512;

    /** Lies below what comes while deliveries are handed over. */
    private static final Delivery AT_WORK = new Delivery() {
        @Override
        void deliver() {
            throw new IllegalStateException("nothing came");
        }
    };

    private static final Runnable NOTHING = () -> {};

    private final Context context;
    private final boolean together;
    private final AtomicReference<@Nullable Delivery> latest = new AtomicReference<>();
    private final Runnable wake = this::wake;

    ContextMailbox(Context context) {
        this.context = context;
        this.together = context.threadingModel() == ThreadingModel.EVENT_LOOP;
    }

    Context context() {
        return context;
    }

    /** A future of the context: its listeners are called there. It is completed by a delivery. */
    <T> Future<T> future(CompletionStage<T> stage) {
        return Future.fromCompletionStage(stage, context);
    }

    /** The engine's answer, on the context. */
    <T> Future<T> whenEnded(CompletionStage<T> answer) {
        StageDelivery<T> delivery = new StageDelivery<>();
        Future<T> future = future(delivery.end());
        answer.whenComplete((value, error) -> {
            delivery.ended(value, error);
            deliver(delivery);
        });
        return future;
    }

    /** A failure, on the context as any other end. */
    <T> Future<T> failed(Throwable error) {
        return whenEnded(CompletableFuture.failedFuture(error));
    }

    /** Has something handed over, soon. May be called by any thread, once for each delivery. */
    void deliver(Delivery delivery) {
        if (!together) {
            if (!ran(nothing -> delivery.deliver())) {
                delivery.deliver();
            }
            return;
        }
        Delivery before;
        do {
            before = latest.get();
            delivery.earlier = before;
        } while (!latest.compareAndSet(before, delivery));
        if (before == null) {
            // A loop that is woken by the first takes the poller's processor, where it can, and finds no other.
            TransferEngine.atEndOfCycle(wake);
        } else if (before == AT_WORK) {
            // It need not be woken, but where it shares the poller's processor it has to be let run.
            TransferEngine.atEndOfCycle(NOTHING);
        }
    }

    private void wake() {
        if (!ran(this)) {
            handle(null);
        }
    }

    /**
     * Hands over what has come, in the order in which it came, and then what has come meanwhile: some times over, as each time
     * that the loop has to come back costs it and the poller several calls of the kernel, and then the loop has its turn. In
     * between it lets a poller that shares its processor run, which answers what was started here without having to wake it.
     */
    @Override
    public void handle(@Nullable Void nothing) {
        int turns = 0;
        int deliveries = 0;
        boolean whole = false;
        try {
            do {
                deliveries += deliverAll(inOrder(latest.getAndSet(AT_WORK)));
                turns++;
                if (latest.get() == AT_WORK && deliveries < MOST_DELIVERIES) {
                    Thread.yield();
                }
                if (latest.compareAndSet(AT_WORK, null)) {
                    whole = true;
                    return;
                }
                // The loop gets no wake-up while the mailbox has entries: so this continues by itself.
            } while ((turns < MOST_TURNS && deliveries < MOST_DELIVERIES) || !ran(this));
            whole = true;
        } finally {
            if (!whole && !ran(this)) {
                handle(null);
            }
        }
    }

    private static @Nullable Delivery inOrder(@Nullable Delivery latest) {
        Delivery first = null;
        Delivery last = latest;
        while (last != null && last != AT_WORK) {
            Delivery earlier = last.earlier;
            last.earlier = first;
            first = last;
            last = earlier;
        }
        return first;
    }

    /** Delivers all, also if one throws, which the context reports. Returns how many there were. */
    private static int deliverAll(@Nullable Delivery first) {
        int count = 0;
        Throwable failure = null;
        Delivery delivery = first;
        while (delivery != null) {
            Delivery next = delivery.earlier;
            delivery.earlier = null;
            try {
                delivery.deliver();
            } catch (RuntimeException | Error thrown) {
                failure = failure == null ? thrown : failure;
            }
            delivery = next;
            count++;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return count;
    }

    /**
     * Runs something on the context. A context takes no work once its worker pool or its Vert.x is closed: handlers cannot
     * run there any more, and the caller delivers on its own thread.
     */
    private boolean ran(Handler<Void> task) {
        try {
            context.runOnContext(task);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }
}
