package io.sluice.engine.providers;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The loop of a transport on a poller: opened when it is needed, flushed in each cycle, closed on the poller's thread.
 */
class TransportLoopsTest {
    private final Poller poller =
            new Poller("transport loops", 0, PatientOptions.builder().build(), failed -> {});
    private final RecordingTransport first = new RecordingTransport();
    private final RecordingTransport second = new RecordingTransport();
    private final TransportLoops loops = new TransportLoops(1, 2);

    /** Records the calls of its loops; used on the poller alone until that has ended. */
    private static final class RecordingTransport implements Transport {
        private final List<RecordingLoop> opened = new ArrayList<>();

        @Override
        public Capabilities capabilities() {
            throw new UnsupportedOperationException();
        }

        @Override
        public TransportLoop openLoop(EventLoop loop) {
            RecordingLoop made = new RecordingLoop();
            opened.add(made);
            return made;
        }
    }

    private static final class RecordingLoop implements TransportLoop {
        private final Thread openedOn = Thread.currentThread();
        private final List<Thread> closedOn = new ArrayList<>();
        private int flushes;
        private int gathered;
        private boolean fails;

        @Override
        public Endpoint endpoint(EndpointContext context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int flush() {
            flushes++;
            if (fails) {
                fails = false;
                throw new IllegalStateException("a fault of this transport, thrown on purpose");
            }
            int before = gathered;
            gathered = 0;
            return before;
        }

        @Override
        public void close() {
            closedOn.add(Thread.currentThread());
            if (fails) {
                throw new IllegalStateException("a fault of this transport, thrown on purpose");
            }
        }
    }

    @BeforeEach
    void start() {
        poller.start();
    }

    @AfterEach
    void stop() {
        Patience.await(poller.stop());
    }

    private void onPoller(Runnable task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        poller.execute(() -> {
            try {
                task.run();
                done.complete(null);
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        Patience.await(done);
    }

    private RecordingLoop get(int index, RecordingTransport transport) {
        return (RecordingLoop) loops.get(poller, new OpenTransport("recording", index, transport));
    }

    @Test
    void opensEachOnceAndWhenItIsNeeded() {
        onPoller(() -> {
            assertThat(get(0, first)).isSameAs(get(0, first));
            assertThat(first.opened).hasSize(1);
            assertThat(second.opened).isEmpty();
            assertThat(get(1, second)).isNotSameAs(get(0, first));
        });
    }

    @Test
    void whatACycleGathersIsFlushedBeforeWhatIsPutOffToItsEnd() {
        CompletableFuture<Integer> leftAtTheEnd = new CompletableFuture<>();
        onPoller(() -> {
            RecordingLoop loop = get(0, first);
            loop.gathered = 3;
            poller.atEndOfCycle(() -> leftAtTheEnd.complete(loop.gathered));
        });
        assertThat(Patience.await(leftAtTheEnd)).isZero();
    }

    @Test
    void oneThatFailsKeepsNeitherTheOthersNorThePollerFromTheirWork() {
        onPoller(() -> {
            get(0, first).fails = true;
            get(1, second).gathered = 3;
        });
        onPoller(() -> {
            assertThat(get(0, first).fails).isFalse();
            assertThat(get(1, second).gathered).isZero();
            get(0, first).fails = true;
            loops.close(poller);
            assertThat(first.opened.getFirst().closedOn).containsExactly(Thread.currentThread());
            assertThat(second.opened.getFirst().closedOn).containsExactly(Thread.currentThread());
        });
    }

    @Test
    void closesOnThePollersThreadAndFlushesNoMore() {
        onPoller(() -> get(0, first));
        onPoller(() -> loops.close(poller));
        RecordingLoop closed = first.opened.getFirst();
        assertThat(closed.closedOn).containsExactly(closed.openedOn);
        int flushes = closed.flushes;
        onPoller(() -> {});
        onPoller(() -> loops.close(poller));
        assertThat(closed.flushes).isEqualTo(flushes).isPositive();
        assertThat(closed.closedOn).hasSize(1);
    }
}
