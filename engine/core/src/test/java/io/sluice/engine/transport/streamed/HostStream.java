package io.sluice.engine.transport.streamed;

import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A stream of a device that is a thread of the host: it does one thing after the other, and events that are recorded between them
 * happen when it comes to them. Others find its events by handle alone, as a driver's.
 */
final class HostStream implements AutoCloseable {
    private static final AtomicLong NEXT_HANDLE = new AtomicLong(1);
    private static final Map<Long, Recorded> EVENTS = new ConcurrentHashMap<>();
    private static final Map<Long, Awaited> COMPLETIONS = new ConcurrentHashMap<>();

    private final String device;
    private final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread = Thread.ofPlatform().name("stream").start(this::run);
    private volatile boolean closed;

    HostStream(String device) {
        this.device = device;
    }

    private void run() {
        while (!closed) {
            Patience.take("the stream's next work", work).run();
        }
    }

    /** Does something when all before it is done. */
    void enqueue(Runnable kernel) {
        work.add(kernel);
    }

    /** An event that happens when all that was enqueued before is done. */
    Recorded record() {
        Recorded event = new Recorded(NEXT_HANDLE.getAndIncrement());
        EVENTS.put(event.handle, event);
        enqueue(event::happen);
        return event;
    }

    /** An event that a transfer completes into, and that the stream waits for before it does anything else. */
    Awaited await() {
        Awaited event = new Awaited(NEXT_HANDLE.getAndIncrement());
        COMPLETIONS.put(event.handle, event);
        enqueue(() -> Patience.await(event.set));
        return event;
    }

    /** For the transport that completes on the device. */
    static void set(long handle) {
        Awaited event = COMPLETIONS.get(handle);
        event.deviceSets.incrementAndGet();
        event.set.countDown();
    }

    /** For the transport that orders on the device: runs something once the stream has come to an event, on some thread. */
    static void onceHappened(long handle, Runnable then) {
        EVENTS.get(handle).then(then);
    }

    @Override
    public void close() {
        enqueue(() -> closed = true);
        Patience.join(thread);
    }

    /** An event that the stream waits for. */
    final class Awaited implements StreamCompletion {
        private final long handle;
        private final CountDownLatch set = new CountDownLatch(1);
        private final AtomicInteger deviceSets = new AtomicInteger();
        private final List<Optional<SluiceException>> hostSets = new CopyOnWriteArrayList<>();

        private Awaited(long handle) {
            this.handle = handle;
        }

        /** How often the device has set it. */
        int deviceSets() {
            return deviceSets.get();
        }

        /** The outcomes with which the host has set the event. */
        List<Optional<SluiceException>> hostSets() {
            return hostSets;
        }

        @Override
        public long handle() {
            return handle;
        }

        @Override
        public String device() {
            return device;
        }

        @Override
        public void complete(@Nullable SluiceException error) {
            hostSets.add(Optional.ofNullable(error));
            set.countDown();
        }
    }

    /** An event of the stream. */
    final class Recorded implements StreamEvent {
        private final long handle;
        private final AtomicInteger hostWaits = new AtomicInteger();
        private @Nullable List<Runnable> waiting = new ArrayList<>();

        private Recorded(long handle) {
            this.handle = handle;
        }

        private void happen() {
            List<Runnable> told;
            synchronized (this) {
                told = waiting;
                waiting = null;
            }
            told.forEach(Runnable::run);
        }

        private void then(Runnable task) {
            synchronized (this) {
                if (waiting != null) {
                    waiting.add(task);
                    return;
                }
            }
            task.run();
        }

        /** How often the host was asked to wait. */
        int hostWaits() {
            return hostWaits.get();
        }

        @Override
        public long handle() {
            return handle;
        }

        @Override
        public String device() {
            return device;
        }

        @Override
        public void whenHappened(Listener listener) {
            hostWaits.incrementAndGet();
            then(() -> listener.happened(null));
        }
    }
}
