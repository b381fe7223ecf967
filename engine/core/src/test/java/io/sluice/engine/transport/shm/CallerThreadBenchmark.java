package io.sluice.engine.transport.shm;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A whole transfer that the calling thread carries out by itself, between two engines of this process. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class CallerThreadBenchmark {
    /** Bytes of a transfer. */
    @Param({"8", "4096", "32768"})
    public int bytes;

    private ShmPair pair;
    private PreparedTransfer prepared;
    private long ended;
    private long failed;

    private void terminated(Transfer transfer, @Nullable SluiceException error) {
        ended++;
        failed += error == null ? 0 : 1;
    }

    /** Connects the engines. */
    @Setup
    public void connect() {
        pair = ShmPair.open(1 << 20);
        prepared = pair.connection()
                .prepared()
                .write(pair.local(), 0, pair.remote(), 0, bytes, TransferOptions.defaults(), this::terminated);
    }

    /** Closes them; fails where something else than transfers that succeed was measured. */
    @TearDown
    public void close() {
        pair.close();
        if (ended == 0 || failed != 0) {
            throw new IllegalStateException(ended + " transfers have ended, " + failed + " of them with an error");
        }
    }

    /**
     * Start, credits, lease, copy and terminal signal of a prepared transfer.
     *
     * @return how many have ended
     */
    @Benchmark
    public long prepared() {
        prepared.start();
        return ended;
    }
}
