package io.sluice.engine.transport.verbs;

import io.sluice.jni.Errno;
import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

/**
 * The cost of handing a batch of work requests to an RDMA adapter and taking its completions, on this side of the
 * adapter: the one here does nothing but count.
 */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class VerbsBenchmark {
    private static final int BATCH = 16;
    private static final int QUEUE_PAIRS = 8;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment requests = arena.allocate((long) BATCH * VerbsQueuePair.RECORD_BYTES, 64);
    private final MemorySegment completions = arena.allocate((long) BATCH * VerbsCompletionQueue.RECORD_BYTES, 64);
    private long device;
    private long domain;
    private long completionQueue;
    private long receiveQueue;
    private long queuePair;
    private final PostBatch batch = new PostBatch();
    private final BatchQueue[] queues = new BatchQueue[QUEUE_PAIRS];
    private long posted;
    private long refused;

    /** Opens the device and makes what a queue pair needs. */
    @Setup
    public void open() {
        device = handle(NullDevice.open());
        domain = handle(VerbsDevice.allocateProtectionDomain(device));
        completionQueue = handle(VerbsCompletionQueue.create(device, 4 * BATCH, 0));
        receiveQueue = handle(VerbsReceiveQueue.create(domain, 1));
        queuePair = handle(VerbsQueuePair.create(domain, completionQueue, receiveQueue, 4 * BATCH, 1, 0));
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            queues[i] = new BatchQueue(
                    handle(VerbsQueuePair.create(domain, completionQueue, receiveQueue, 4 * BATCH, 1, 0)));
        }
    }

    /** Closes it all, and fails where a benchmark has measured refusals. */
    @TearDown
    public void close() {
        if (posted == 0 || refused != 0) {
            throw new IllegalStateException(posted + " batches were posted, and " + refused + " refused");
        }
        check(VerbsQueuePair.destroy(queuePair));
        for (BatchQueue queue : queues) {
            check(VerbsQueuePair.destroy(queue.pair));
        }
        batch.close();
        check(VerbsReceiveQueue.destroy(receiveQueue));
        check(VerbsCompletionQueue.destroy(completionQueue));
        check(VerbsDevice.freeProtectionDomain(domain));
        check(VerbsDevice.close(device));
        arena.close();
    }

    /**
     * Writes the records of 16 writes, which make no completions, and posts them with one call.
     *
     * @return how many were accepted
     */
    @Benchmark
    public int post() {
        fill(0);
        return postBatch();
    }

    /**
     * The same with completions, which one call takes, and whose records are read.
     *
     * @return a number that depends on all that was read
     */
    @Benchmark
    public long postAndPoll() {
        fill(VerbsQueuePair.SIGNALED);
        postBatch();
        return poll(BATCH);
    }

    /**
     * Polls a queue in which there is nothing, as an idle poller does.
     *
     * @return 0
     */
    @Benchmark
    public int pollNothing() {
        posted++;
        return VerbsCompletionQueue.poll(completionQueue, completions.address(), BATCH);
    }

    /**
     * Gathers one write of one lane, posts it with one call, and takes its completion, as a lone request of an idle poller.
     *
     * @return a number that depends on all that was read
     */
    @Benchmark
    public long loneRequest() {
        queues[0].add(posted++);
        batch.post();
        return poll(1);
    }

    /**
     * Gathers 16 writes of eight lanes that take turns, posts them with one call, and takes the completion of each lane.
     *
     * @return a number that depends on all that was read
     */
    @Benchmark
    public long turnsOfEightLanes() {
        for (int i = 0; i < BATCH; i++) {
            queues[i % QUEUE_PAIRS].add(posted++);
        }
        batch.post();
        return poll(QUEUE_PAIRS);
    }

    /** A lane's queue as the batch sees it. */
    private final class BatchQueue extends PostBatch.Queue {
        private final long pair;

        BatchQueue(long pair) {
            this.pair = pair;
        }

        void add(long id) {
            batch.add(this, pair, id, VerbsQueuePair.WRITE, 0);
            batch.memory(id, 1, id, 1, 4096);
        }

        @Override
        void signalled() {}

        @Override
        void postRefused(int error) {
            refused++;
        }
    }

    private int postBatch() {
        int accepted = VerbsQueuePair.post(requests.address(), BATCH);
        posted++;
        refused += accepted == BATCH ? 0 : 1;
        return accepted;
    }

    private long poll(int expected) {
        int count = VerbsCompletionQueue.poll(completionQueue, completions.address(), BATCH);
        refused += count == expected ? 0 : 1;
        long read = 0;
        for (int i = 0; i < count; i++) {
            long at = (long) i * VerbsCompletionQueue.RECORD_BYTES;
            read += completions.get(ValueLayout.JAVA_LONG, at + VerbsCompletionQueue.RECORD_ID_OFFSET);
            read += completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_STATUS_OFFSET);
            read += completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_OPCODE_OFFSET);
        }
        return read;
    }

    private void fill(int flags) {
        for (int i = 0; i < BATCH; i++) {
            long at = (long) i * VerbsQueuePair.RECORD_BYTES;
            requests.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_QUEUE_PAIR_OFFSET, queuePair);
            requests.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_ID_OFFSET, posted + i);
            requests.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, posted);
            requests.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_REMOTE_ADDRESS_OFFSET, posted);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LENGTH_OFFSET, 4096);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, i);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_REMOTE_KEY_OFFSET, i);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_IMMEDIATE_OFFSET, i);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_OPCODE_OFFSET, VerbsQueuePair.WRITE);
            requests.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_FLAGS_OFFSET, flags);
        }
    }

    private static long handle(long result) {
        check(result < 0 ? (int) result : 0);
        return result;
    }

    private static void check(int result) {
        if (result < 0) {
            throw new IllegalStateException(Errno.message(result));
        }
    }
}
