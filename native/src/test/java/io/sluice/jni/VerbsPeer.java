package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;

/** One side of connections over the software adapter: a device with one of everything, and any number of queue pairs. */
final class VerbsPeer implements AutoCloseable {
    static final int SEND_DEPTH = 256;
    static final int PIECES = 4;
    static final int INLINE_BYTES = 64;
    static final int RECEIVE_DEPTH = 128;
    static final long BYTES = 1 << 20;
    private static final int ALL =
            VerbsMemory.LOCAL_WRITE | VerbsMemory.REMOTE_WRITE | VerbsMemory.REMOTE_READ | VerbsMemory.REMOTE_ATOMIC;

    /** A completion as it lies in its record. */
    record Completion(long id, int status, int vendorError, int bytes, int queuePair, int opcode, int immediate) {
        boolean succeeded() {
            return status == VerbsCompletionQueue.SUCCESS;
        }
    }

    final Arena arena = Arena.ofConfined();
    final long device;
    final long domain;
    final long channel;
    final long completions;
    final long receives;
    final long address = Memory.map(BYTES, false);
    final MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(BYTES);
    final long region;
    final Deque<Long> queuePairs = new ArrayDeque<>();

    VerbsPeer(String deviceName) {
        SoftAdapter.load();
        device = handle(VerbsDevice.open(deviceName));
        domain = handle(VerbsDevice.allocateProtectionDomain(device));
        channel = handle(VerbsCompletionQueue.createChannel(device));
        completions = handle(VerbsCompletionQueue.create(device, 4096, channel));
        receives = handle(VerbsReceiveQueue.create(domain, RECEIVE_DEPTH));
        region = handle(VerbsMemory.register(domain, address, BYTES, ALL));
    }

    static long handle(long result) {
        assertThat(result).as(() -> Errno.message((int) result)).isPositive();
        return result;
    }

    static int ok(int result) {
        assertThat(result).as(() -> Errno.message(result)).isNotNegative();
        return result;
    }

    /** Makes a queue pair in its first state. */
    long queuePair() {
        long queuePair = handle(VerbsQueuePair.create(domain, completions, receives, SEND_DEPTH, PIECES, INLINE_BYTES));
        queuePairs.add(queuePair);
        return queuePair;
    }

    /** Connects a new queue pair of each side, and gives both. */
    static long[] connect(VerbsPeer one, VerbsPeer other) {
        long[] pairs = {one.queuePair(), other.queuePair()};
        one.ready(pairs[0], path(one, other, pairs[1]));
        other.ready(pairs[1], path(other, one, pairs[0]));
        return pairs;
    }

    private void ready(long queuePair, MemorySegment path) {
        ok(VerbsQueuePair.initialise(queuePair, 1, 0, ALL));
        ok(VerbsQueuePair.readyToReceive(queuePair, path.address()));
        ok(VerbsQueuePair.readyToSend(queuePair, 8, 3, 2, 77, 4));
    }

    /** The path from one side to a queue pair of the other. */
    static MemorySegment path(VerbsPeer from, VerbsPeer to, long queuePair) {
        MemorySegment gid = to.gid(1);
        MemorySegment path = from.arena.allocate(VerbsQueuePair.PATH_BYTES, 8);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_MTU_BYTES_OFFSET, 1024);
        path.set(
                ValueLayout.JAVA_INT,
                VerbsQueuePair.PATH_DESTINATION_QUEUE_PAIR_OFFSET,
                VerbsQueuePair.number(queuePair));
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_RECEIVE_SEQUENCE_OFFSET, 77);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_MAX_READ_DEPTH_AS_TARGET_OFFSET, 4);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_MINIMUM_RNR_TIMER_OFFSET, 1);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_PORT_OFFSET, 1);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_SOURCE_GID_INDEX_OFFSET, 1);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_HOP_LIMIT_OFFSET, 64);
        path.set(ValueLayout.JAVA_INT, VerbsQueuePair.PATH_IS_GLOBAL_OFFSET, 1);
        MemorySegment.copy(gid, 0, path, VerbsQueuePair.PATH_DESTINATION_GID_OFFSET, 16);
        return path;
    }

    MemorySegment gid(int index) {
        MemorySegment record = arena.allocate(VerbsDevice.GID_BYTES, 8);
        ok(VerbsDevice.queryGid(device, 1, index, record.address()));
        return record;
    }

    /** Writes one work request on all of the first bytes of both sides' memory into a record. */
    void request(MemorySegment record, long queuePair, long id, VerbsPeer peer, int opcode, int flags, int length) {
        record.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_QUEUE_PAIR_OFFSET, queuePair);
        record.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_ID_OFFSET, id);
        record.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_LOCAL_ADDRESS_OFFSET, address);
        record.set(ValueLayout.JAVA_LONG, VerbsQueuePair.RECORD_REMOTE_ADDRESS_OFFSET, peer.address);
        record.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_LENGTH_OFFSET, length);
        record.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_LOCAL_KEY_OFFSET, VerbsMemory.localKey(region));
        record.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_REMOTE_KEY_OFFSET, VerbsMemory.remoteKey(peer.region));
        record.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_OPCODE_OFFSET, opcode);
        record.set(ValueLayout.JAVA_INT, VerbsQueuePair.RECORD_FLAGS_OFFSET, flags);
    }

    MemorySegment requests(int count) {
        return arena.allocate((long) count * VerbsQueuePair.RECORD_BYTES, 8);
    }

    static MemorySegment requestAt(MemorySegment records, int index) {
        return records.asSlice((long) index * VerbsQueuePair.RECORD_BYTES, VerbsQueuePair.RECORD_BYTES);
    }

    /** Posts one receive of some bytes from an offset in the memory on. */
    void receive(long id, long offset, int length) {
        assertThat(VerbsReceiveQueue.post(
                        receives, receiveRecords(id, 1, offset, length).address(), 1))
                .isEqualTo(1);
    }

    /** Records of receives with ids that count up, all into the same memory. */
    MemorySegment receiveRecords(long id, int count, long offset, int length) {
        MemorySegment records = arena.allocate((long) count * VerbsReceiveQueue.RECORD_BYTES, 8);
        for (int i = 0; i < count; i++) {
            long at = (long) i * VerbsReceiveQueue.RECORD_BYTES;
            records.set(ValueLayout.JAVA_LONG, at + VerbsReceiveQueue.RECORD_ID_OFFSET, id + i);
            records.set(ValueLayout.JAVA_LONG, at + VerbsReceiveQueue.RECORD_ADDRESS_OFFSET, address + offset);
            records.set(ValueLayout.JAVA_INT, at + VerbsReceiveQueue.RECORD_LENGTH_OFFSET, length);
            records.set(
                    ValueLayout.JAVA_INT, at + VerbsReceiveQueue.RECORD_LOCAL_KEY_OFFSET, VerbsMemory.localKey(region));
        }
        return records;
    }

    /** Waits for the next completion. */
    Completion completion() {
        MemorySegment record = arena.allocate(VerbsCompletionQueue.RECORD_BYTES, 8);
        record.fill((byte) 0x55);
        long start = System.nanoTime();
        while (VerbsCompletionQueue.poll(completions, record.address(), 1) == 0) {
            assertThat(System.nanoTime() - start)
                    .as("nanoseconds without a completion")
                    .isLessThan(Patience.BOUND.toNanos());
            Thread.onSpinWait();
        }
        return completionAt(record, 0);
    }

    static Completion completionAt(MemorySegment records, int index) {
        long at = (long) index * VerbsCompletionQueue.RECORD_BYTES;
        return new Completion(
                records.get(ValueLayout.JAVA_LONG, at + VerbsCompletionQueue.RECORD_ID_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_STATUS_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_VENDOR_ERROR_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_BYTES_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_QUEUE_PAIR_NUMBER_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_OPCODE_OFFSET),
                records.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_IMMEDIATE_OFFSET));
    }

    @Override
    public void close() {
        for (long queuePair : queuePairs) {
            ok(VerbsQueuePair.destroy(queuePair));
        }
        ok(VerbsMemory.deregister(region));
        ok(Memory.unmap(address, BYTES));
        ok(VerbsReceiveQueue.destroy(receives));
        ok(VerbsCompletionQueue.destroy(completions));
        ok(VerbsCompletionQueue.destroyChannel(channel));
        ok(VerbsDevice.freeProtectionDomain(domain));
        ok(VerbsDevice.close(device));
        arena.close();
    }
}
