package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Work requests of several lanes that go to their adapters in one crossing, those of each lane together: so an adapter
 * is notified of a lane once, in any interleaving of the lanes. Confined to a loop.
 */
final class PostBatch {
    private static final int CAPACITY = 256;
    private static final int NONE = -1;
    private static final long PIECES_BYTES = (long) GatherElements.MOST * VerbsQueuePair.PIECE_BYTES;

    /** A send queue as the batch sees it. */
    abstract static class Queue {
        // where its requests are in the batch that is being filled, and where they end in the one that is being posted
        private int first;
        private int last = NONE;
        private int end;
        private int error;

        /** The last request of this queue in the batch is signalled. */
        abstract void signalled();

        /** The adapter did not take a request of the batch, nor any of this queue that followed. The batch is empty again. */
        abstract void postRefused(int error);
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = records();
    // the same, those of each queue behind one another
    private final MemorySegment grouped = records();
    // the next request of the same queue
    private final int[] next = new int[CAPACITY];
    // of those that have several, at the place of each in the batch
    private final MemorySegment pieces = arena.allocate(CAPACITY * PIECES_BYTES, Long.BYTES);
    private int count;
    private final @Nullable Queue[] queues = new @Nullable Queue[CAPACITY];
    private int queueCount;
    private boolean interleaved;
    private long posts;

    private MemorySegment records() {
        return arena.allocate((long) CAPACITY * VerbsQueuePair.RECORD_BYTES, Long.BYTES);
    }

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
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_PIECES_OFFSET, 0);
        if (queue.last == NONE) {
            queue.first = count;
            queues[queueCount++] = queue;
        } else {
            next[queue.last] = count;
            interleaved |= queue.last != count - 1;
        }
        queue.last = count;
        next[count] = NONE;
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

    /** A piece of the local memory of the request that was added last; then {@link #pieces} tells how many there are. */
    void piece(int index, long address, int localKey, int length) {
        long at = (count - 1) * PIECES_BYTES + (long) index * VerbsQueuePair.PIECE_BYTES;
        pieces.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.PIECE_ADDRESS_OFFSET, address);
        pieces.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.PIECE_LENGTH_OFFSET, length);
        pieces.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.PIECE_LOCAL_KEY_OFFSET, localKey);
    }

    /** As {@link #memory}, for local memory in pieces. */
    void pieces(int number, int localKey, long remoteAddress, int remoteKey, int length) {
        memory(pieces.address() + (count - 1) * PIECES_BYTES, localKey, remoteAddress, remoteKey, length);
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_PIECES_OFFSET, number);
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

    /** Posts everything; says how much there was. A lane whose adapter refuses breaks; the others go on. */
    int post() {
        int total = count;
        if (total == 0) {
            return 0;
        }
        markSignalled();
        List<Queue> refused = postAll(interleaved ? grouped() : inPlace(), total);
        for (int i = 0; i < queueCount; i++) {
            queues[i] = null;
        }
        queueCount = 0;
        count = 0;
        interleaved = false;
        // only now: what follows may fill and post the batch in its turn
        for (Queue queue : refused) {
            queue.postRefused(queue.error);
        }
        return total;
    }

    /** The last of each lane is signalled: so each batch is followed by one completion of each lane. */
    private void markSignalled() {
        for (int i = 0; i < queueCount; i++) {
            Queue queue = queue(i);
            long at = (long) queue.last * VerbsQueuePair.RECORD_BYTES + VerbsQueuePair.RECORD_FLAGS_OFFSET;
            records.set(ValueLayout.JAVA_INT, at, records.get(ValueLayout.JAVA_INT, at) | VerbsQueuePair.SIGNALED);
            queue.signalled();
        }
    }

    private MemorySegment inPlace() {
        for (int i = 0; i < queueCount; i++) {
            Queue queue = queue(i);
            queue.end = queue.last + 1;
            queue.last = NONE;
        }
        return records;
    }

    private MemorySegment grouped() {
        int to = 0;
        for (int i = 0; i < queueCount; i++) {
            Queue queue = queue(i);
            for (int from = queue.first; from != NONE; from = next[from]) {
                MemorySegment.copy(
                        records,
                        (long) from * VerbsQueuePair.RECORD_BYTES,
                        grouped,
                        (long) to++ * VerbsQueuePair.RECORD_BYTES,
                        VerbsQueuePair.RECORD_BYTES);
            }
            queue.end = to;
            queue.last = NONE;
        }
        return grouped;
    }

    /** Gives the queues whose adapter refused: what they have left is passed over. */
    private List<Queue> postAll(MemorySegment ordered, int total) {
        List<Queue> refused = List.of();
        int from = 0;
        int at = 0;
        while (from < total) {
            posts++;
            int accepted =
                    VerbsQueuePair.post(ordered.address() + (long) from * VerbsQueuePair.RECORD_BYTES, total - from);
            if (accepted > 0) {
                from += accepted;
                continue;
            }
            while (queue(at).end <= from) {
                at++;
            }
            Queue queue = queue(at);
            queue.error = -accepted;
            from = queue.end;
            if (refused.isEmpty()) {
                refused = new ArrayList<>();
            }
            refused.add(queue);
        }
        return refused;
    }

    private Queue queue(int index) {
        return Objects.requireNonNull(queues[index]);
    }

    /** How often the native library was called, until now. */
    long posts() {
        return posts;
    }

    void close() {
        arena.close();
    }
}
