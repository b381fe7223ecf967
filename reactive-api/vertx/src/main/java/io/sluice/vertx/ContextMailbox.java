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
 * Delivers what pollers have finished to a context. An event loop receives everything from a poller's duty cycle, and
 * everything that arrives until the loop runs, as one task, so that many transfers wake it once. On other contexts each
 * delivery is a task of its own: a handler there may await a later delivery.
 *
 * <p>{@link #deliver} never runs a delivery itself, not even on the context's own thread: so a chain of transfers that
 * complete at once does not deepen the stack.
 */
// the marker is compared by identity; nothing depends on yielding
@SuppressWarnings({"ReferenceEquality", "ThreadPriorityCheck"})
final class ContextMailbox implements Handler<Void> {
    /** Something to deliver to a context once. */
    abstract static class Delivery {
        /** The previous delivery; used by the mailbox only. */
        private @Nullable Delivery earlier;

        /** Runs on the context unless that accepts no more work; must not throw. */
        abstract void deliver();
    }

    /** How many rounds of new deliveries run before the loop gets its turn. */
    private static final int MOST_TURNS = 16;

    /** After this many deliveries the loop gets its turn, even within the first round. */
    private static final int MOST_DELIVERIES = 512;

    /** Marks the bottom of the deliveries that arrive during a run. */
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

    /** A future of the context, whose listeners are called there. A delivery completes it. */
    <T> Future<T> future(CompletionStage<T> stage) {
        return Future.fromCompletionStage(stage, context);
    }

    /** Delivers the engine's answer on the context. */
    <T> Future<T> whenEnded(CompletionStage<T> answer) {
        StageDelivery<T> delivery = new StageDelivery<>();
        Future<T> future = future(delivery.end());
        answer.whenComplete((value, error) -> {
            delivery.ended(value, error);
            deliver(delivery);
        });
        return future;
    }

    /** Delivers a failure on the context, as any other outcome. */
    <T> Future<T> failed(Throwable error) {
        return whenEnded(CompletableFuture.failedFuture(error));
    }

    /** Schedules a delivery. May be called by any thread, once for each delivery. */
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
            // The first delivery wakes a loop, which takes the poller's processor if it can, and would find only one.
            TransferEngine.atEndOfCycle(wake);
        } else if (before == AT_WORK) {
            // The loop need not be woken, but if it shares the poller's processor it must be scheduled.
            TransferEngine.atEndOfCycle(NOTHING);
        }
    }

    private void wake() {
        if (!ran(this)) {
            handle(null);
        }
    }

    /**
     * Runs the deliveries in order of arrival, then those that have arrived meanwhile, for some rounds: each return to
     * the loop costs it and the poller several system calls. Between rounds it yields to a poller on the same
     * processor, which completes what was started here without being woken.
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
                // the loop is not woken while the mailbox has entries, so this schedules itself
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

    /** Runs all deliveries, even if one throws, which the context reports. Returns their number. */
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
     * Runs a task on the context. A context accepts no work once its worker pool or its Vert.x is closed: handlers
     * cannot run there any more, and the caller delivers on its own thread.
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
