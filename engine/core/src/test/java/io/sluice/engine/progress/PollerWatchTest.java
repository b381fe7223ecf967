package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** The descriptors that a poller watches: readiness, handlers that expect more, and cancelled watches. */
class PollerWatchTest extends PollerFixture {
    @Test
    void readinessReachesTheHandlerUntilTheWatchIsCancelled() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        AtomicInteger ready = new AtomicInteger();
        EventLoop.Watch watch = on(
                poller,
                () -> poller.watch(descriptor, (readable, writable) -> {
                    EventDescriptor.drain(descriptor);
                    ready.incrementAndGet();
                }));
        EventDescriptor.signal(descriptor);
        Patience.until("it was heard", () -> ready.get() == 1);
        on(poller, () -> {
            watch.cancel();
            watch.cancel();
            return 0;
        });
        EventDescriptor.signal(descriptor);
        Patience.pause(Duration.ofMillis(10));
        assertThat(ready).hasValue(1);
        Sockets.close(descriptor);
    }

    /** A handler that counts its calls, and expects more on request. */
    private static final class HotHandler implements EventLoop.ReadinessHandler {
        private final int descriptor = EventDescriptor.create();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger signals = new AtomicInteger();
        private volatile boolean expecting;
        private EventLoop.Watch watch;

        static HotHandler on(Poller poller) {
            HotHandler handler = new HotHandler();
            handler.watch = PollerFixture.on(poller, () -> poller.watch(handler.descriptor, handler));
            return handler;
        }

        @Override
        public void ready(boolean readable, boolean writable) {
            EventDescriptor.drain(descriptor);
            calls.incrementAndGet();
            if (expecting) {
                watch.expectMore();
            }
        }

        void signal() {
            signals.incrementAndGet();
            EventDescriptor.signal(descriptor);
        }

        /** Expectations are short: a machine that is busy with something else may let one grow old before the next look. */
        void signalUntilCalledWithoutReadiness() {
            expecting = true;
            Patience.until("it is called though nothing is ready", () -> {
                signal();
                return calls.get() > 10 + 2 * signals.get();
            });
        }
    }

    private static final Duration HARDLY_EVER_PARKS = Duration.ofSeconds(100);

    @Test
    void handlerThatExpectsMoreIsCalledUntilItsExpectationIsOld() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        HotHandler handler = HotHandler.on(poller);
        handler.signalUntilCalledWithoutReadiness();
        handler.expecting = false;
        Patience.until("it is called no more", () -> {
            int before = handler.calls.get();
            Patience.pause(Duration.ofMillis(10));
            // the poller had a processor in this time: what was signalled before has been heard
            on(poller, () -> 0);
            on(poller, () -> 0);
            return handler.calls.get() == before;
        });
        int before = handler.calls.get();
        handler.signal();
        Patience.until("the kernel reports it again", () -> handler.calls.get() > before);
        Sockets.close(handler.descriptor);
    }

    /** More of them than the loop looks at by itself, and all the time. */
    @Test
    void thoseThatExpectMoreDoNotKeepOthersFromBeingHeard() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        List<HotHandler> hot = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            HotHandler handler = HotHandler.on(poller);
            handler.expecting = true;
            handler.signal();
            hot.add(handler);
        }
        HotHandler other = HotHandler.on(poller);
        for (int i = 1; i <= 100; i++) {
            int calls = i;
            other.signal();
            Patience.until("the other was heard", () -> other.calls.get() == calls);
            HotHandler one = hot.get(i % hot.size());
            int before = one.calls.get();
            one.signal();
            Patience.until("each of them was heard", () -> one.calls.get() > before);
        }
    }

    @Test
    void handlerThatExpectsMoreIsNotCalledOnceItsWatchIsCancelledOrAsksForNothing() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        HotHandler cancelled = HotHandler.on(poller);
        HotHandler deaf = HotHandler.on(poller);
        for (HotHandler handler : List.of(cancelled, deaf)) {
            handler.signalUntilCalledWithoutReadiness();
        }
        int[] calls = on(poller, () -> {
            cancelled.watch.cancel();
            deaf.watch.interest(false, false);
            return new int[] {cancelled.calls.get(), deaf.calls.get()};
        });
        Patience.pause(Duration.ofMillis(10));
        assertThat(cancelled.calls).hasValue(calls[0]);
        assertThat(deaf.calls).hasValue(calls[1]);
        Sockets.close(cancelled.descriptor);
        Sockets.close(deaf.descriptor);
    }

    /** Work that a callback begins leaves with the end of the cycle that called it. */
    @Test
    void whatAHandlerHandsOverRunsBeforeTheEndOfItsCycle() {
        Poller poller = poller();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        int descriptor = EventDescriptor.create();
        on(
                poller,
                () -> poller.watch(descriptor, (readable, writable) -> {
                    EventDescriptor.drain(descriptor);
                    poller.atEndOfCycle(() -> order.add("end"));
                    poller.execute(() -> order.add("task"));
                    order.add("handler");
                }));
        EventDescriptor.signal(descriptor);
        Patience.until("all ran", () -> order.size() == 3);
        assertThat(order).containsExactly("handler", "task", "end");
        on(poller, () -> Sockets.close(descriptor));
    }

    /**
     * Two descriptors are ready in one batch. The first handler that is called closes the other descriptor, whose number the
     * kernel gives out again at once: the event that is still in the batch must not reach the newcomer.
     */
    @Test
    void staleEventDoesNotReachTheDescriptorsNextOwner() {
        Poller poller = poller();
        for (int round = 0; round < 200; round++) {
            assertThat(on(poller, () -> new Swap(poller)).strangerHeard(poller)).isZero();
        }
    }

    private static final class Swap {
        private final int[] descriptors = {EventDescriptor.create(), EventDescriptor.create()};
        private final EventLoop.Watch[] watches = new EventLoop.Watch[2];
        private final CompletableFuture<Integer> swapped = new CompletableFuture<>();
        private final AtomicInteger heard = new AtomicInteger();
        private EventLoop.Watch newcomer;

        Swap(Poller poller) {
            for (int i = 0; i < 2; i++) {
                int mine = i;
                watches[i] = poller.watch(descriptors[i], (readable, writable) -> swap(poller, mine));
                EventDescriptor.signal(descriptors[i]);
            }
        }

        private void swap(Poller poller, int mine) {
            int other = 1 - mine;
            EventDescriptor.drain(descriptors[mine]);
            watches[mine].cancel();
            watches[other].cancel();
            Sockets.close(descriptors[other]);
            descriptors[other] = EventDescriptor.create();
            newcomer = poller.watch(descriptors[other], (readable, writable) -> heard.incrementAndGet());
            swapped.complete(other);
        }

        int strangerHeard(Poller poller) {
            Patience.await(swapped);
            on(poller, () -> 0);
            return on(poller, () -> {
                newcomer.cancel();
                Sockets.close(descriptors[0]);
                Sockets.close(descriptors[1]);
                return heard.get();
            });
        }
    }

    @Test
    void watchOfAClosedGenerationChangesNothing() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        AtomicInteger ready = new AtomicInteger();
        on(poller, () -> {
            EventLoop.Watch old = poller.watch(descriptor, (readable, writable) -> {
                throw new AssertionError("cancelled");
            });
            old.cancel();
            poller.watch(descriptor, (readable, writable) -> {
                EventDescriptor.drain(descriptor);
                ready.incrementAndGet();
            });
            // These are about a watch that is over, and must not touch its successor.
            old.interest(false, false);
            old.cancel();
            return 0;
        });
        EventDescriptor.signal(descriptor);
        Patience.until("the successor hears", () -> ready.get() == 1);
    }

    @Test
    void manyDescriptorsAreWatched() {
        Poller poller = poller();
        int count = 1000;
        int[] descriptors = new int[count];
        AtomicIntegerArray heard = new AtomicIntegerArray(count);
        on(poller, () -> {
            for (int i = 0; i < count; i++) {
                int number = i;
                descriptors[i] = EventDescriptor.create();
                poller.watch(descriptors[i], (readable, writable) -> {
                    EventDescriptor.drain(descriptors[number]);
                    heard.incrementAndGet(number);
                });
            }
            return 0;
        });
        for (int descriptor : descriptors) {
            EventDescriptor.signal(descriptor);
        }
        Patience.until("all were heard", () -> {
            for (int i = 0; i < count; i++) {
                if (heard.get(i) == 0) {
                    return false;
                }
            }
            return true;
        });
        Patience.await(poller.stop());
        for (int descriptor : descriptors) {
            Sockets.close(descriptor);
        }
    }

    /** The number of its descriptor may denote another file by then. */
    @Test
    void afterTheStopNothingIsWatched() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        EventLoop.Watch watch = on(poller, () -> poller.watch(descriptor, (readable, writable) -> {}));
        Patience.await(poller.stop());
        assertThat(poller.isRunning()).isFalse();
        watch.interest(true, true);
        watch.cancel();
        assertThatThrownBy(() -> poller.watch(descriptor, (readable, writable) -> {}))
                .isInstanceOf(SluiceException.class);
        Sockets.close(descriptor);
    }
}
