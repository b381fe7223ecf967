package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.Errno;
import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests of several queue pairs, on an adapter that counts and moves nothing. */
@Tag("verbs")
class PostBatchTest {
    private static final int UNKNOWN_OPCODE = 99;
    private static final int DEPTH = 512;

    private final SoftAdapter adapter = SoftAdapter.get();
    private final long device = positive(NullDevice.open());
    private final long domain = positive(VerbsDevice.allocateProtectionDomain(device));
    private final long completionQueue = positive(VerbsCompletionQueue.create(device, DEPTH, 0));
    private final long receiveQueue = positive(VerbsReceiveQueue.create(domain, 1));
    private final PostBatch batch = new PostBatch();
    private final Queue[] queues = {new Queue(), new Queue(), new Queue()};

    private static long positive(long handle) {
        assertThat(handle).isPositive();
        return handle;
    }

    /** A queue pair, and what its batch says of it. */
    private final class Queue extends PostBatch.Queue {
        private final long pair = positive(VerbsQueuePair.create(domain, completionQueue, receiveQueue, DEPTH, 1, 0));
        private final List<Integer> refusals = new ArrayList<>();
        private int signalled;
        private Runnable whenRefused = () -> {};

        @Override
        void signalled() {
            signalled++;
        }

        @Override
        void postRefused(int error) {
            refusals.add(error);
            whenRefused.run();
        }

        void add(int id, int opcode) {
            batch.add(this, pair, id, opcode, 0);
            batch.memory(0, 0, 0, 0, 0);
        }
    }

    @AfterEach
    void close() {
        for (Queue queue : queues) {
            VerbsQueuePair.destroy(queue.pair);
        }
        VerbsReceiveQueue.destroy(receiveQueue);
        VerbsCompletionQueue.destroy(completionQueue);
        VerbsDevice.freeProtectionDomain(domain);
        VerbsDevice.close(device);
        batch.close();
    }

    private List<Long> completed() {
        List<Long> ids = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment records = arena.allocate((long) DEPTH * VerbsCompletionQueue.RECORD_BYTES, Long.BYTES);
            int count = VerbsCompletionQueue.poll(completionQueue, records.address(), DEPTH);
            for (int i = 0; i < count; i++) {
                long at = (long) i * VerbsCompletionQueue.RECORD_BYTES;
                ids.add(records.get(ValueLayout.JAVA_LONG, at + VerbsCompletionQueue.RECORD_ID_OFFSET));
            }
        }
        return ids;
    }

    @Test
    void turnsOfQueuesAreOneCrossingAndADoorbellEach() {
        long doorbells = adapter.counter("doorbells");
        long posts = adapter.counter("posts");
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < queues.length; i++) {
                queues[i].add(10 * i + round, VerbsQueuePair.WRITE);
            }
        }
        assertThat(batch.post()).isEqualTo(12);
        assertThat(batch.posts()).isEqualTo(1);
        assertThat(adapter.counter("doorbells") - doorbells).isEqualTo(queues.length);
        assertThat(adapter.counter("posts") - posts).isEqualTo(12);
        // the last of each, and those alone, are signalled
        assertThat(completed()).containsExactly(3L, 13L, 23L);
        assertThat(queues).allSatisfy(queue -> assertThat(queue.signalled).isEqualTo(1));
        assertThat(batch.post()).isZero();
        assertThat(batch.posts()).isEqualTo(1);
    }

    @Test
    void refusalOfOneQueueLeavesTheOthersAlone() {
        long posts = adapter.counter("posts");
        // its lane breaks, which may post for others
        queues[1].whenRefused = () -> {
            queues[0].add(100, VerbsQueuePair.WRITE);
            batch.post();
        };
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < queues.length; i++) {
                queues[i].add(10 * i + round, i == 1 && round == 1 ? UNKNOWN_OPCODE : VerbsQueuePair.WRITE);
            }
        }
        batch.post();
        assertThat(queues[0].refusals).isEmpty();
        assertThat(queues[1].refusals).containsExactly(Errno.EINVAL);
        assertThat(queues[2].refusals).isEmpty();
        // what stood before the one that was refused has gone, and nothing behind it
        assertThat(adapter.counter("posts") - posts).isEqualTo(3 + 1 + 3 + 1);
        assertThat(completed()).containsExactly(2L, 22L, 100L);
    }

    @Test
    void moreThanABatchHolds() {
        long posts = adapter.counter("posts");
        int each = 200;
        for (int round = 0; round < each; round++) {
            for (Queue queue : queues) {
                queue.add(round, VerbsQueuePair.WRITE);
            }
        }
        batch.post();
        assertThat(adapter.counter("posts") - posts).isEqualTo(3L * each);
        assertThat(completed()).endsWith(each - 1L, each - 1L, each - 1L);
    }
}
