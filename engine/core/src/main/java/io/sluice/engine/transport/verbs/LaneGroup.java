package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Memory;
import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsMemory;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lanes of one loop on one rail that share a completion queue and a receive queue. The completion queue is as deep
 * as all their send queues and receives together, because unsignalled work is flushed too. The receive queue holds a
 * receive for each credit of each lane, so that a peer within its credits always finds one posted. When the group is
 * full, another lane needs another group.
 *
 * <p>Locked memory: a receive buffer for each credit, and for each lane as many send buffers and a word for each slot
 * of its send queue. Confined to the loop, except for {@link #loop()}.
 */
final class LaneGroup implements EventLoop.Source, RailWatcher {
    /** The most messages that a peer may have in flight on a lane. A power of two. */
    static final int CREDITS = 32;

    /** A lane as its group sees it. An exception from a method ends the connection of that lane only. */
    interface Member {
        /** The work up to and including a slot of the send queue has completed, or the work in that slot has failed. */
        void completed(int place, int status, int vendorError);

        /** A message of the peer has arrived in a buffer. */
        void messageReceived(MemorySegment buffer, long at, int length);

        /** A write of the peer has arrived whose immediate names a signal. */
        void immediateReceived(int number);

        /** The rail, or the lane's queue pair, reports an event. */
        void railEvent(RailEvent event);

        /** Another method has thrown. */
        void unexpected(Throwable error);
    }

    private static final Logger LOG = LoggerFactory.getLogger(LaneGroup.class);
    private static final int LANES = 16;
    private static final int BATCH = 64;
    private static final int MAX_BATCHES = 8;
    /** Inline sends do not pay off: posted bytes stay in registered memory until the completion anyway. */
    static final int INLINE_BYTES = 0;

    private static final long RECEIVE = 1L << 62;
    private static final int SLOT_SHIFT = 48;
    private static final int GENERATION_SHIFT = 32;

    private final EventLoop loop;
    private final Rail rail;
    private final int capacity;
    private final int sendDepth;
    private final int gatherElements;
    private final @Nullable Member[] lanes;
    private final int[] numbers;
    private final int[] generations;
    private int used;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment completions =
            arena.allocate((long) BATCH * VerbsCompletionQueue.RECORD_BYTES, Long.BYTES);
    private final MemorySegment receives;
    private final MemorySegment asyncEvent = arena.allocate(VerbsDevice.EVENT_BYTES, Long.BYTES);
    private int receivesDue;
    private final long memoryBytes;
    private final MemorySegment memory;
    private final int localKey;

    private long region;
    private long channel;
    private long queue;
    private long receiveQueue;
    private EventLoop.@Nullable Watch channelWatch;
    private EventLoop.@Nullable Watch asyncWatch;
    private boolean armed;
    private boolean polling;
    // it may have lost receives, or one of its queues has failed
    private boolean worn;
    private boolean broken;
    private boolean closed;

    LaneGroup(EventLoop loop, Rail rail, int wantedSendDepth, int gatherElements) {
        this.loop = loop;
        this.gatherElements = gatherElements;
        this.rail = rail;
        DeviceLimits limits = rail.limits();
        this.sendDepth = Math.min(wantedSendDepth, limits.sendDepth());
        this.capacity = Math.clamp(
                Math.min(limits.receiveQueueDepth() / CREDITS, limits.completionQueueEntries() / (sendDepth + CREDITS)),
                1,
                LANES);
        this.lanes = new @Nullable Member[capacity];
        this.numbers = new int[capacity];
        this.generations = new int[capacity];
        this.receives = arena.allocate((long) capacity * CREDITS * VerbsReceiveQueue.RECORD_BYTES, Long.BYTES);
        this.memoryBytes = wordsAt(capacity);
        long address = 0;
        try {
            address = Native.checked(Memory.map(memoryBytes, true), rail.name(), "get memory for messages");
            memory = MemorySegment.ofAddress(address).reinterpret(memoryBytes, arena, null);
            region = Native.checked(
                    VerbsMemory.register(rail.domain(), address, memoryBytes, VerbsMemory.LOCAL_WRITE),
                    rail.name(),
                    "register memory for messages");
            localKey = VerbsMemory.localKey(region);
            channel = Native.checked(
                    VerbsCompletionQueue.createChannel(rail.device()), rail.name(), "create a completion channel");
            queue = Native.checked(
                    VerbsCompletionQueue.create(rail.device(), capacity * (sendDepth + CREDITS), channel),
                    rail.name(),
                    "create a completion queue");
            receiveQueue = Native.checked(
                    VerbsReceiveQueue.create(rail.domain(), capacity * CREDITS),
                    rail.name(),
                    "create a shared receive queue");
            for (int buffer = 0; buffer < capacity * CREDITS; buffer++) {
                addReceive(buffer);
            }
            postReceives();
            channelWatch =
                    loop.watch(VerbsCompletionQueue.channelDescriptor(channel), (readable, writable) -> takeEvents());
        } catch (RuntimeException | Error e) {
            if (address != 0 && region == 0) {
                Memory.unmap(address, memoryBytes);
            }
            close();
            throw e;
        }
        rail.watchers().add(this);
        loop.addSource(this);
        if (rail.watchers().getFirst() == this) {
            watchDevice();
        }
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    Rail rail() {
        return rail;
    }

    int sendDepth() {
        return sendDepth;
    }

    /** The memory of messages and words, from which lanes take their parts. */
    MemorySegment memory() {
        return memory;
    }

    int localKey() {
        return localKey;
    }

    /** The address of a lane's send buffers. */
    long buffersAt(int slot) {
        return ((long) capacity + slot) * CREDITS * VerbsMessage.BYTES;
    }

    /** The address of a lane's words, one for each slot of its send queue. */
    long wordsAt(int slot) {
        return 2L * capacity * CREDITS * VerbsMessage.BYTES + (long) slot * places(sendDepth) * Long.BYTES;
    }

    /** The length of a send queue as a power of two, so that a mask finds a slot. */
    static int places(int depth) {
        return Integer.highestOneBit(depth * 2 - 1);
    }

    boolean hasRoom() {
        return used < capacity && !worn && !broken && !rail.isRemoved();
    }

    /** Whether the group is useless once its lanes have left. */
    boolean isSpent() {
        return worn || broken || rail.isRemoved();
    }

    /**
     * Handles all pending completions before a queue pair is destroyed: unpolled messages may be lost with it, and
     * their receives too.
     */
    void drainBeforeDestroying() {
        if (polling) {
            worn = true;
        } else {
            drain();
        }
    }

    boolean isEmpty() {
        return used == 0;
    }

    /** Assigns a slot to a lane. */
    int enter(Member lane) {
        for (int slot = 0; slot < capacity; slot++) {
            if (lanes[slot] == null) {
                lanes[slot] = lane;
                used++;
                return slot;
            }
        }
        throw new IllegalStateException("the lane group has no free slot");
    }

    void leave(int slot) {
        lanes[slot] = null;
        used--;
    }

    /** Creates a queue pair for the lane in a slot, ready for its peer's address. */
    long createQueuePair(int slot, int port, int partitionKey) {
        String name = rail.name();
        long made = Native.checked(
                VerbsQueuePair.create(rail.domain(), queue, receiveQueue, sendDepth, gatherElements, INLINE_BYTES),
                name,
                "create a queue pair");
        try {
            Native.checked(
                    VerbsQueuePair.initialise(
                            made,
                            port,
                            partitionKey,
                            VerbsMemory.REMOTE_WRITE | VerbsMemory.REMOTE_READ | VerbsMemory.REMOTE_ATOMIC),
                    name,
                    "initialise a queue pair");
        } catch (RuntimeException e) {
            VerbsQueuePair.destroy(made);
            throw e;
        }
        numbers[slot] = VerbsQueuePair.number(made);
        generations[slot] = (generations[slot] + 1) & 0xffff;
        return made;
    }

    /** The part of a work request's id that identifies its lane and queue pair. */
    long idBase(int slot) {
        return (long) slot << SLOT_SHIFT | (long) generations[slot] << GENERATION_SHIFT;
    }

    void destroyQueuePair(int slot, long queuePair) {
        int result = VerbsQueuePair.destroy(queuePair);
        if (result < 0) {
            LOG.error("a queue pair of {} could not be destroyed: {}", rail, Errno.message(-result));
        }
        numbers[slot] = 0;
        generations[slot] = (generations[slot] + 1) & 0xffff;
    }

    // ---- completions ----

    @Override
    public int poll() {
        int total = 0;
        polling = true;
        for (int i = 0; i < MAX_BATCHES && !closed && !broken; i++) {
            int count = VerbsCompletionQueue.poll(queue, completions.address(), BATCH);
            if (count < 0) {
                failed("the completion queue cannot be polled");
                break;
            }
            loop.beginBatch();
            for (int each = 0; each < count; each++) {
                safelyCompleted((long) each * VerbsCompletionQueue.RECORD_BYTES);
            }
            total += count;
            if (count < BATCH) {
                break;
            }
        }
        polling = false;
        if (receivesDue > 0 && !closed && !broken) {
            postReceives();
        }
        return total;
    }

    /**
     * Handles one completion. An exception here fails the group, one in a connection's code ends that connection only.
     */
    private void safelyCompleted(long at) {
        try {
            completed(at);
        } catch (RuntimeException | Error e) {
            LOG.error("an unexpected error in a completion on {}", rail, e);
            failed("a completion could not be handled");
        }
    }

    /** Handles everything that has completed so far. */
    void drain() {
        // polling may never find the queue empty, because receives are posted again meanwhile
        int rounds = capacity * (sendDepth + CREDITS) / BATCH + 1;
        while (!closed && !broken && rounds-- > 0 && poll() > 0) {
            continue;
        }
    }

    private void completed(long at) {
        long id = completions.get(ValueLayout.JAVA_LONG, at + VerbsCompletionQueue.RECORD_ID_OFFSET);
        int status = completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_STATUS_OFFSET);
        if ((id & RECEIVE) != 0) {
            received((int) id, status, at);
            return;
        }
        int slot = (int) (id >>> SLOT_SHIFT);
        int generation = (int) (id >>> GENERATION_SHIFT) & 0xffff;
        Member lane = slot < capacity ? lanes[slot] : null;
        // a late completion of a destroyed queue pair has no meaning
        if (lane != null && generations[slot] == generation) {
            try {
                lane.completed(
                        (int) id,
                        status,
                        completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_VENDOR_ERROR_OFFSET));
            } catch (RuntimeException | Error e) {
                lane.unexpected(e);
            }
        }
    }

    private void received(int buffer, int status, long at) {
        try {
            if (status == VerbsCompletionQueue.SUCCESS) {
                deliver(buffer, at);
            }
        } finally {
            // the buffer is free again, even after an error
            addReceive(buffer);
        }
    }

    private void deliver(int buffer, long at) {
        int number = completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_QUEUE_PAIR_NUMBER_OFFSET);
        Member lane = laneOf(number);
        if (lane == null) {
            return;
        }
        int opcode = completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_OPCODE_OFFSET);
        try {
            if (opcode == VerbsCompletionQueue.RECEIVE_RDMA_WITH_IMMEDIATE) {
                lane.immediateReceived(
                        completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_IMMEDIATE_OFFSET));
            } else {
                lane.messageReceived(
                        memory,
                        (long) buffer * VerbsMessage.BYTES,
                        completions.get(ValueLayout.JAVA_INT, at + VerbsCompletionQueue.RECORD_BYTES_OFFSET));
            }
        } catch (RuntimeException | Error e) {
            lane.unexpected(e);
        }
    }

    private @Nullable Member laneOf(int number) {
        for (int slot = 0; slot < capacity; slot++) {
            if (numbers[slot] == number) {
                return lanes[slot];
            }
        }
        return null;
    }

    private void addReceive(int buffer) {
        if (receivesDue == capacity * CREDITS) {
            postReceives();
        }
        long at = (long) receivesDue++ * VerbsReceiveQueue.RECORD_BYTES;
        receives.set(ValueLayout.JAVA_LONG, at + VerbsReceiveQueue.RECORD_ID_OFFSET, RECEIVE | buffer);
        receives.set(
                ValueLayout.JAVA_LONG,
                at + VerbsReceiveQueue.RECORD_ADDRESS_OFFSET,
                memory.address() + (long) buffer * VerbsMessage.BYTES);
        receives.set(ValueLayout.JAVA_INT, at + VerbsReceiveQueue.RECORD_LENGTH_OFFSET, VerbsMessage.BYTES);
        receives.set(ValueLayout.JAVA_INT, at + VerbsReceiveQueue.RECORD_LOCAL_KEY_OFFSET, localKey);
    }

    private void postReceives() {
        int posted = VerbsReceiveQueue.post(receiveQueue, receives.address(), receivesDue);
        if (posted < receivesDue) {
            failed("the receive queue took " + Math.max(posted, 0) + " of " + receivesDue + " receives");
        }
        receivesDue = 0;
    }

    // ---- events ----

    @Override
    public boolean arm() {
        if (!armed) {
            armed = true;
            VerbsCompletionQueue.requestNotification(queue);
        }
        // completions before the request raise no event
        return poll() == 0;
    }

    private void takeEvents() {
        armed = false;
        if (VerbsCompletionQueue.takeEvents(channel, queue) < 0) {
            // always readable, but without events: the device is gone
            cancel(channelWatch);
            channelWatch = null;
            failed("the completion channel has failed");
        }
    }

    private static void cancel(EventLoop.@Nullable Watch watch) {
        if (watch != null) {
            watch.cancel();
        }
    }

    private void takeAsyncEvents() {
        int result;
        while ((result = VerbsDevice.nextAsyncEvent(rail.device(), asyncEvent.address())) == 1) {
            int type = asyncEvent.get(ValueLayout.JAVA_INT, VerbsDevice.EVENT_TYPE_OFFSET);
            int port = asyncEvent.get(ValueLayout.JAVA_INT, VerbsDevice.EVENT_PORT_OFFSET);
            int number = asyncEvent.get(ValueLayout.JAVA_INT, VerbsDevice.EVENT_QUEUE_PAIR_NUMBER_OFFSET);
            switch (type) {
                case VerbsDevice.EVENT_PORT_ERROR -> portChanged(port, false);
                case VerbsDevice.EVENT_PORT_ACTIVE -> portChanged(port, true);
                case VerbsDevice.EVENT_DEVICE_FATAL -> {
                    LOG.warn("{} has failed or was removed", rail);
                    rail.removed();
                    tellWatchers(RailEvent.REMOVED, 0);
                }
                case VerbsDevice.EVENT_QUEUE_PAIR_FATAL,
                        VerbsDevice.EVENT_QUEUE_PAIR_REQUEST_ERROR,
                        VerbsDevice.EVENT_QUEUE_PAIR_ACCESS_ERROR -> tellWatchers(RailEvent.QUEUE_PAIR_FAILED, number);
                case VerbsDevice.EVENT_COMPLETION_QUEUE_ERROR, VerbsDevice.EVENT_SHARED_RECEIVE_QUEUE_ERROR -> {
                    LOG.error("a queue of {} has failed", rail);
                    tellWatchers(RailEvent.QUEUE_FAILED, 0);
                }
                default -> LOG.debug("{}: event {}", rail, type);
            }
        }
        if (result < 0) {
            cancel(asyncWatch);
            asyncWatch = null;
            rail.removed();
            tellWatchers(RailEvent.REMOVED, 0);
        }
    }

    private void portChanged(int port, boolean active) {
        if (port == rail.port().number()) {
            LOG.info("the port of {} is {}", rail, active ? "active again" : "down");
            rail.active(active);
            tellWatchers(active ? RailEvent.ACTIVE : RailEvent.DOWN, 0);
        }
    }

    /** Forwards an event from the loop that watches the rail to all loops of the rail. */
    private void tellWatchers(RailEvent event, int number) {
        for (RailWatcher watcher : rail.watchers()) {
            watcher.loop().execute(() -> watcher.railEvent(event, number));
        }
    }

    @Override
    public void railEvent(RailEvent event, int number) {
        for (int slot = 0; slot < capacity; slot++) {
            Member lane = lanes[slot];
            if (lane != null && (event != RailEvent.QUEUE_PAIR_FAILED || numbers[slot] == number)) {
                tell(lane, event);
            }
        }
    }

    private void failed(String what) {
        if (broken) {
            return;
        }
        broken = true;
        LOG.error("{}: {}", rail, what);
        for (Member lane : lanes) {
            if (lane != null) {
                tell(lane, RailEvent.QUEUE_FAILED);
            }
        }
    }

    /** An error in one connection's code must not keep the event from the others. */
    private static void tell(Member lane, RailEvent event) {
        try {
            lane.railEvent(event);
        } catch (RuntimeException | Error e) {
            lane.unexpected(e);
        }
    }

    /** Called when no lane is left and the loop continues. */
    void retire() {
        boolean heard = asyncWatch != null;
        close();
        if (heard) {
            passWatchOn();
        }
    }

    /** Called when no lane is left. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        rail.watchers().remove(this);
        loop.removeSource(this);
        cancel(channelWatch);
        cancel(asyncWatch);
        if (receiveQueue > 0) {
            VerbsReceiveQueue.destroy(receiveQueue);
        }
        if (queue > 0) {
            VerbsCompletionQueue.takeEvents(channel, queue);
            VerbsCompletionQueue.destroy(queue);
        }
        if (channel > 0) {
            VerbsCompletionQueue.destroyChannel(channel);
        }
        if (region > 0) {
            VerbsMemory.deregister(region);
            Memory.unmap(memory.address(), memoryBytes);
        }
        arena.close();
    }

    /** Hands the watch over, because one loop must keep reading the device's events. */
    private void passWatchOn() {
        for (RailWatcher other : rail.watchers()) {
            other.loop().execute(other::watchDevice);
            return;
        }
    }

    @Override
    public void watchDevice() {
        if (closed) {
            passWatchOn();
        } else if (asyncWatch == null) {
            asyncWatch =
                    loop.watch(VerbsDevice.asyncDescriptor(rail.device()), (readable, writable) -> takeAsyncEvents());
        }
    }
}
