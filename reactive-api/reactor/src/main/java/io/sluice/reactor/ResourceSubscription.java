package io.sluice.reactor;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * One subscriber's control operation whose value must be released if no subscriber takes it. To release means to pass
 * it to the discard hook, once.
 *
 * <p>A cancel inside {@code onNext} does not tell whether the value was taken: {@code next()} cancels and takes it,
 * {@code timeout} cancels and drops it. Operators report drops to Reactor's hook, which this class watches: a value
 * that is dropped and cancelled, in either order, is released. So is a value passed to a chain that already reported
 * itself cancelled, once that cancel arrives. A cancel by another thread during {@code onNext} always counts.
 *
 * @param <T> the resource
 */
@SuppressWarnings("ReferenceEquality") // a thread and a resource are their own identities
final class ResourceSubscription<T> extends FutureSubscription<T> {
    private static final int DROPPED = 1;
    private static final int CANCELLED = 2;
    private static final int GIVEN_BACK = 4;

    private static final Logger LOG = Loggers.getLogger(Operators.class);

    /** The innermost hand-over on this thread. */
    private static final ThreadLocal<@Nullable ResourceSubscription<?>> CURRENT = new ThreadLocal<>();

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<ResourceSubscription> FATE =
            AtomicIntegerFieldUpdater.newUpdater(ResourceSubscription.class, "fate");

    static {
        watchDroppedValues();
    }

    private final @Nullable Scheduler scheduler;
    private volatile int fate;

    /** Written before the state says that the value is being handed over, and read afterwards. */
    private @Nullable T value;

    /**
     * This field and the next matter only to the thread that hands over; another thread only sees that it is a
     * different one.
     */
    private @Nullable Thread handingOver;

    private @Nullable ResourceSubscription<?> outer;

    ResourceSubscription(
            CoreSubscriber<? super T> actual,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            @Nullable AbandonedCalls abandoned,
            @Nullable Scheduler scheduler) {
        super(actual, operation, abandoned);
        this.scheduler = scheduler;
    }

    /** Installs the hook; again if the hooks were reset. */
    static void watchDroppedValues() {
        Hooks.onNextDropped(ResourceSubscription::dropped);
    }

    /** Does not use {@code publishOn}, which would take the value before its subscriber can. */
    @Override
    void arrived(@Nullable T result, @Nullable Throwable error) {
        if (scheduler == null) {
            super.arrived(result, error);
            return;
        }
        try {
            scheduler.schedule(() -> super.arrived(result, error));
        } catch (RejectedExecutionException disposed) {
            if (result != null) {
                Operators.onDiscard(result, actual.currentContext());
            }
            if (error != null) {
                disposed.addSuppressed(error);
            }
            super.arrived(null, disposed);
        }
    }

    @Override
    void ended(@Nullable T result, @Nullable Throwable error) {
        value = result;
        super.ended(result, error);
    }

    @Override
    void handOver(T resource) {
        handingOver = Thread.currentThread();
        outer = CURRENT.get();
        CURRENT.set(this);
        try {
            actual.onNext(resource);
            if (isBeingCancelled()) {
                mark(DROPPED);
            }
        } catch (Throwable thrown) {
            // a subscriber that throws counts as cancelled
            mark(DROPPED | CANCELLED);
            throw thrown;
        } finally {
            if (outer == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(outer);
            }
            outer = null;
            handingOver = null;
        }
    }

    @Override
    void cancelledWhileHandedOver() {
        mark(Thread.currentThread() == handingOver ? CANCELLED : CANCELLED | DROPPED);
    }

    @Override
    void cancelledAfterTheEnd() {
        mark(CANCELLED);
    }

    /** Whether a cancel has reached an operator but not yet this subscription: that operator discards the value. */
    private boolean isBeingCancelled() {
        for (Scannable each = Scannable.from(actual);
                each.isScanAvailable();
                each = Scannable.from(each.scanUnsafe(Attr.ACTUAL))) {
            // a subscriber that has all it wants may report both
            if (Boolean.TRUE.equals(each.scanUnsafe(Attr.CANCELLED))
                    && !Boolean.TRUE.equals(each.scanUnsafe(Attr.TERMINATED))) {
                return (fate & CANCELLED) == 0;
            }
        }
        return false;
    }

    /** Called when an operator on this thread has dropped an item. */
    private static void dropped(Object item) {
        ResourceSubscription<?> innermost = CURRENT.get();
        if (innermost == null && LOG.isDebugEnabled()) {
            // what Reactor logs without a hook
            LOG.debug("onNextDropped: " + item);
        }
        for (ResourceSubscription<?> each = innermost; each != null; each = each.outer) {
            // another item may be what an operator in between made of the value, if it was cancelled, too
            if (item == each.value || (each.fate & CANCELLED) != 0) {
                each.mark(DROPPED);
            }
        }
    }

    private void mark(int what) {
        for (int now = fate; (now & GIVEN_BACK) == 0; now = fate) {
            int next = now | what;
            boolean unwanted = next == (DROPPED | CANCELLED);
            if (FATE.compareAndSet(this, now, unwanted ? next | GIVEN_BACK : next)) {
                T resource = value;
                if (unwanted && resource != null) {
                    Operators.onDiscard(resource, actual.currentContext());
                }
                return;
            }
        }
    }
}
