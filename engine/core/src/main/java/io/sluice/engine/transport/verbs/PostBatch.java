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
 * Work requests of several lanes that are posted in one native call, grouped by lane: the adapter gets one doorbell for
 * each lane, however the lanes are interleaved. Confined to a loop.
 */
final class PostBatch {
    private static final int CAPACITY = 256;
    private static final int NONE = -1;
    private static final long PIECES_BYTES = (long) GatherElements.MOST * VerbsQueuePair.PIECE_BYTES;

    /** A send queue as the batch sees it. */
    abstract static class Queue {
        // the range of its requests in the batch being filled, and its end in the batch being posted
        private int first;
        private int last = NONE;
        private int end;
        private int error;

        /** The last request of this queue in the batch is signalled. */
        abstract void signalled();

        /**
         * The adapter refused a request of the batch, and with it all later ones of this queue. The batch is empty
         * again.
         */
        abstract void postRefused(int error);
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment records = records();
    // the same records grouped by queue
    private final MemorySegment grouped = records();
    // the next request of the same queue
    private final int[] next = new int[CAPACITY];
    // the gather lists of records that have one, indexed by record
    private final MemorySegment pieces = arena.allocate(CAPACITY * PIECES_BYTES, Long.BYTES);
    private int count;
    private final @Nullable Queue[] queues = new @Nullable Queue[CAPACITY];
    private int queueCount;
    private boolean interleaved;
    private long posts;

    private MemorySegment records() {
        return arena.allocate((long) CAPACITY * VerbsQueuePair.RECORD_BYTES, Long.BYTES);
    }

    /** Adds a request; the caller sets its other fields next. */
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

    /** Sets the local memory of the last added request. */
    void memory(long localAddress, int localKey, long remoteAddress, int remoteKey, int length) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, localAddress);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, localKey);
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_REMOTE_ADDRESS_OFFSET, remoteAddress);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_REMOTE_KEY_OFFSET, remoteKey);
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_LENGTH_OFFSET, length);
    }

    /** Adds a gather entry to the last added request; {@link #pieces} then sets their number. */
    void piece(int index, long address, int localKey, int length) {
        long at = (count - 1) * PIECES_BYTES + (long) index * VerbsQueuePair.PIECE_BYTES;
        pieces.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.PIECE_ADDRESS_OFFSET, address);
        pieces.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.PIECE_LENGTH_OFFSET, length);
        pieces.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.PIECE_LOCAL_KEY_OFFSET, localKey);
    }

    /** As {@link #memory}, for local memory in several pieces. */
    void pieces(int number, int localKey, long remoteAddress, int remoteKey, int length) {
        memory(pieces.address() + (count - 1) * PIECES_BYTES, localKey, remoteAddress, remoteKey, length);
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_PIECES_OFFSET, number);
    }

    /** Sets the operands of the last added atomic operation. */
    void operands(long operand, long swap) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_OPERAND_OFFSET, operand);
        records.set(ValueLayout.JAVA_LONG, at + VerbsQueuePair.RECORD_SWAP_OFFSET, swap);
    }

    /** Sets the immediate of the last added request. */
    void immediate(int value) {
        long at = (long) (count - 1) * VerbsQueuePair.RECORD_BYTES;
        records.set(ValueLayout.JAVA_INT, at + VerbsQueuePair.RECORD_IMMEDIATE_OFFSET, value);
    }

    /** Posts everything; returns how much there was. A lane whose adapter refuses breaks; the others continue. */
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
        // last: the callbacks may fill and post the batch again
        for (Queue queue : refused) {
            queue.postRefused(queue.error);
        }
        return total;
    }

    /** Signals the last request of each lane, so that each batch ends with one completion for each lane. */
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

    /** Reports the queues whose adapter refused; their remaining requests are skipped. */
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

    /** The number of native calls so far. */
    long posts() {
        return posts;
    }

    void close() {
        arena.close();
    }
}
