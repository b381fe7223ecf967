package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** The overhead of a Mono for a transfer, from its subscription to its terminal signal. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TransferMonoBenchmark {
    private static final int BYTES = 8;

    /** A connection that completes each transfer inside the call that submits it. */
    @State(Scope.Thread)
    public static class CompletingAtOnce {
        private final FakeConnection connection = FakeConnection.forgetful(256, FakeTransfer::succeed);
        private final MemoryRegion local = new FakeRegion(BYTES);
        private final Mono<TransferResult> write =
                ReactiveConnection.from(connection).write(local, connection.remote(), 0);
        private final CountingSink sink = new CountingSink();
    }

    /** A real engine that is connected to itself over TCP. */
    @State(Scope.Thread)
    public static class ConnectedToItself {
        private final CountingSink sink = new CountingSink();
        private TransferEngine engine;
        private Mono<TransferResult> write;

        /**
         * Connects it.
         *
         * @throws Exception if it cannot
         */
        @Setup
        public void connect() throws Exception {
            engine = TransferEngine.open(EngineOptions.builder().pollers(1).build());
            Connection connection = Patience.await(engine.connect(engine.address()));
            MemoryRegion region = engine.allocate(2L * BYTES, RegionOptions.readWrite());
            RemoteRegion remote = Patience.await(connection.attach(region.descriptor()));
            write = ReactiveConnection.from(connection).write(region.slice(0, BYTES), remote, BYTES);
        }

        /**
         * Closes it.
         *
         * @throws Exception if it cannot
         */
        @TearDown
        public void close() throws Exception {
            Patience.await(engine.closeAsync());
        }
    }

    /**
     * Only what the Reactor API adds; the allocation includes the fake connection's transfer.
     *
     * @param state the fake connection
     * @return how many have ended
     */
    @Benchmark
    public long subscriptionToTerminalSignal(CompletingAtOnce state) {
        state.write.subscribe(state.sink);
        return state.sink.results;
    }

    /**
     * A whole transfer, one at a time.
     *
     * @param state the engine
     * @return how many have ended
     */
    @Benchmark
    public long transferToItself(ConnectedToItself state) {
        CountingSink sink = state.sink;
        long before = sink.results;
        state.write.subscribe(sink);
        while (sink.results == before) {
            Thread.onSpinWait();
        }
        return before;
    }

    private static final class CountingSink implements CoreSubscriber<TransferResult> {
        private volatile long results;
        private volatile Throwable failure;

        @Override
        public void onSubscribe(Subscription subscription) {
            if (failure != null) {
                throw new IllegalStateException("a transfer has failed", failure);
            }
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(TransferResult result) {}

        @Override
        public void onError(Throwable error) {
            failure = error;
            count();
        }

        @Override
        public void onComplete() {
            count();
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // one transfer at a time
        private void count() {
            results++;
        }
    }
}
