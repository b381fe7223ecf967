package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Work requests of several lanes that go to their adapters in one crossing. Confined to a loop. */
@SuppressWarnings("ReferenceEquality") // a queue is its own identity
final class PostBatch {
    private static final int CAPACITY = 256;

    /** A send queue as the batch sees it. */
    interface Queue {
        /** Whether the last request of this queue in the batch has not been signalled yet; asked from its end on. */
        boolean takeSignalDue();

        /** The adapter did not take a request of the batch, nor any of this queue that followed. */
        void postRefused(int error);
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = arena.allocate((long) CAPACITY * VerbsQueuePair.RECORD_BYTES, Long.BYTES);
    private final @Nullable Queue[] queues = new @Nullable Queue[CAPACITY];
    private int count;

    /** Adds a request; its other fields follow. */
    void add(Queue queue, long queuePair, long id, int opcode, int flags) {
        if (count == CAPACITY) {
            post();
        }
        long at = (long) count * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_QUEUE_PAIR_OFFSET, queuePair);
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_ID_OFFSET, id);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_OPCODE_OFFSET, opcode);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_FLAGS_OFFSET, flags);
        queues[count] = queue;
        count++;
    }

    /** The memory of the request that was added last. */
    void memory(long localAddress, int localKey, long remoteAddress, int remoteKey, int length) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, localAddress);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, localKey);
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_REMOTE_ADDRESS_OFFSET, remoteAddress);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_REMOTE_KEY_OFFSET, remoteKey);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LENGTH_OFFSET, length);
    }

    /** The operands of the atomic operation that was added last. */
    void operands(long operand, long swap) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_OPERAND_OFFSET, operand);
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_SWAP_OFFSET, swap);
    }

    /** The immediate of the request that was added last. */
    void immediate(int value) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_IMMEDIATE_OFFSET, value);
    }

    /** Posts everything. A lane whose adapter refuses breaks; the others go on. */
    void post() {
        markSignaled();
        int from = 0;
        while (from < count) {
            int accepted =
                    VerbsQueuePair.post(records.address() + (long) from * VerbsQueuePair.RECORD_BYTES, count - from);
            if (accepted > 0) {
                from += accepted;
            } else {
                Queue refused = queues[from];
                if (refused != null) {
                    refused.postRefused(-accepted);
                    removeFrom(from, refused);
                }
            }
        }
        for (int i = 0; i < count; i++) {
            queues[i] = null;
        }
        count = 0;
    }

    /** The last of each lane is signalled: so each batch is followed by one completion of each lane. */
    private void markSignaled() {
        for (int i = count - 1; i >= 0; i--) {
            Queue queue = queues[i];
            if (queue != null && queue.takeSignalDue()) {
                long at = (long) i * VerbsQueuePair.RECORD_BYTES + VerbsQueuePair.RECORD_FLAGS_OFFSET;
                int flags = records.get(ValueLayout.JAVA_INT, at);
                records.set(ValueLayout.JAVA_INT, at, flags | VerbsQueuePair.SIGNALED);
            }
        }
    }

    private void removeFrom(int from, Queue queue) {
        int kept = from;
        for (int i = from; i < count; i++) {
            if (queues[i] != queue) {
                if (i != kept) {
                    MemorySegment.copy(
                            records,
                            (long) i * VerbsQueuePair.RECORD_BYTES,
                            records,
                            (long) kept * VerbsQueuePair.RECORD_BYTES,
                            VerbsQueuePair.RECORD_BYTES);
                    queues[kept] = queues[i];
                }
                kept++;
            }
        }
        for (int i = kept; i < count; i++) {
            queues[i] = null;
        }
        count = kept;
    }

    void close() {
        arena.close();
    }
}
