package io.sluice.collectives.link;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Messages to and from one peer on one channel. Message m goes into slot m mod K of the receiver, whose word counts the
 * messages that it has had: nothing depends on the order in which writes arrive. The receiver gives slots back in their
 * order, some at a time, by adding to a word of the sender. All of it is the loop's; nothing is allocated once each size
 * has been sent from each slot.
 *
 * <p>The user looks by itself whether something has arrived, or a slot has become free; before it ceases to look it asks
 * to be told. Into the memory of a peer that is mapped, messages and words are stored, of which the engine cannot tell.
 */
public final class Link {
    private static final VarHandle WORD = MappedPeer.WORD;
    private static final ValueLayout.OfLong HEADER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    // lengths of messages that are sent out of a copy: powers of two, and beyond the last one its multiples
    private static final int LAST_POWER = 12;
    private static final int PRIORITIES = TransferPriority.values().length;
    private static final int SMALLEST_SIZE = 4;
    private static final int FREEING_TRANSFERS = 4;

    private final int peer;
    private final int channel;
    private final LinkLayout layout;
    private final Connection connection;
    private final LaneUser user;
    private final @Nullable MappedPeer mapped;
    private final RemoteRegion remote;
    private final MemoryRegion own;
    private final MemorySegment memory;
    private final MemoryRegion staging;
    private final MemorySegment staged;
    private final long stagingAt;

    private final Slot[] slots;
    private final long freedAt;
    private long sent;
    private @Nullable SignalWait freedWait;
    private boolean awaitsSlot;

    private final long[] arrivedAt;
    private final long[] slotAt;
    private final @Nullable SignalWait[] arrivalWaits;
    private final Freeing[] freeing = new Freeing[FREEING_TRANSFERS];
    private final int freedAtOnce;
    private final long peersFreedAt;
    private long received;
    private long released;
    private boolean awaitsArrival;
    private boolean stopped;

    // of the collective that runs on the channel; kept here for it
    private long sendingFor = -1;
    private long receivingFor = -1;
    private int firstWaiting = -1;
    private int lastWaiting = -1;

    /**
     * Creates a link.
     *
     * @param rank this rank
     * @param peer the other one
     * @param mapped the peer, if its region is mapped
     * @param own this rank's region, laid out as that of the peer
     * @param staging local memory for small messages, of {@link #stagingBytes}
     */
    public Link(
            LinkLayout layout,
            int rank,
            int peer,
            int channel,
            RemoteRegion remote,
            @Nullable MappedPeer mapped,
            MemoryRegion own,
            MemoryRegion staging,
            LaneUser user) {
        this.peer = peer;
        this.mapped = mapped;
        this.channel = channel;
        this.layout = layout;
        this.remote = remote;
        this.connection = remote.connection();
        this.own = own;
        this.memory = own.segment();
        this.staging = staging;
        this.staged = staging.segment();
        this.stagingAt = ((long) peer * layout.channels() + channel) * layout.slots() * layout.stageBytes();
        this.user = user;
        this.slots = new Slot[layout.slots()];
        this.arrivedAt = new long[layout.slots()];
        this.slotAt = new long[layout.slots()];
        this.arrivalWaits = new SignalWait[layout.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot(
                    i,
                    new RemoteSignal(remote, layout.arrivedAt(rank, channel, i)).weak(),
                    layout.slotAt(rank, channel, i),
                    stagingAt + i * layout.stageBytes());
            arrivedAt[i] = layout.arrivedAt(peer, channel, i);
            slotAt[i] = layout.slotAt(peer, channel, i);
        }
        this.freedAt = layout.freedAt(peer, channel);
        this.freedAtOnce = Math.max(1, layout.slots() / 2);
        this.peersFreedAt = layout.freedAt(rank, channel);
        RemoteSignal freed = new RemoteSignal(remote, peersFreedAt);
        SignalUpdate update = new SignalUpdate(freed, freedAtOnce, SignalOrder.WEAK);
        for (int i = 0; i < freeing.length; i++) {
            freeing[i] = new Freeing(update);
        }
    }

    /** Returns the length of the local memory for the small messages of all links. */
    public static long stagingBytes(LinkLayout layout) {
        return (long) layout.size() * layout.channels() * layout.slots() * layout.stageBytes();
    }

    /** Returns the other rank. */
    public int peer() {
        return peer;
    }

    /** Returns the channel. */
    public int channel() {
        return channel;
    }

    /** Returns whether messages are stored into mapped memory: the user is told of no arrival and of no free slot. */
    public boolean isMapped() {
        return mapped != null;
    }

    /** Returns whether the source of a message may be changed once it is sent. */
    public boolean sendsAtOnce() {
        return mapped != null;
    }

    /** Memory of a mapped peer could not be accessed; returns what to throw: a {@link LinkFailedException} if it is lost. */
    public RuntimeException failed(IllegalStateException error) {
        MappedPeer to = mapped;
        return to == null ? error : to.failed(error);
    }

    /** Returns the longest message that travels with its header, in bytes. */
    public int smallBytes() {
        return layout.smallBytes();
    }

    /** Returns the longest message that is sent with its announcement, in bytes. */
    public int announcedBytes() {
        return layout.announcedBytes();
    }

    /** The number of a length to which messages are rounded up. */
    private static int sizeIndex(int bytes) {
        if (bytes <= 1 << LAST_POWER) {
            return bytes == 0 ? 0 : Math.max(SMALLEST_SIZE, Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1));
        }
        return LAST_POWER + ((bytes - 1) >> LAST_POWER);
    }

    /** A length to which messages are rounded up. */
    private static int sizeOf(int index) {
        if (index <= LAST_POWER) {
            return index == 0 ? 0 : 1 << index;
        }
        return (index - LAST_POWER + 1) << LAST_POWER;
    }

    // ---- sending ----

    /** One slot at the peer, and what fills it. */
    private final class Slot implements TransferCallback {
        private final int index;
        private final SignalUpdate arrived;
        private final long at;
        private final long staging;
        // by priority and size
        private final @Nullable PreparedTransfer[] prepared =
                new PreparedTransfer[PRIORITIES * (sizeIndex(layout.smallBytes()) + 1)];
        private boolean busy;
        private boolean copied;

        Slot(int index, SignalUpdate arrived, long at, long staging) {
            this.index = index;
            this.arrived = arrived;
            this.at = at;
            this.staging = staging;
        }

        /** The transfer that writes the staged header and message, which is rounded up. */
        PreparedTransfer ofSize(int bytes, TransferOptions options) {
            int size = sizeIndex(bytes);
            int index = options.priority().ordinal() * (prepared.length / PRIORITIES) + size;
            PreparedTransfer transfer = prepared[index];
            if (transfer == null) {
                long rounded = Math.min(sizeOf(size), layout.smallBytes());
                long length = LinkLayout.smallAt(rounded) - LinkLayout.HEADER_AT + rounded;
                transfer = connection
                        .prepared()
                        .writeWithSignal(
                                Link.this.staging,
                                staging + LinkLayout.HEADER_AT,
                                remote,
                                at + LinkLayout.HEADER_AT,
                                length,
                                arrived,
                                options,
                                this);
                prepared[index] = transfer;
            }
            return transfer;
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            busy = false;
            user.sendEnded(Link.this, index, error);
        }
    }

    /** Returns whether the next message can be sent now. */
    public boolean canSend() {
        return (mapped != null || !slots[nextSlot()].busy)
                && sent - (long) WORD.getAcquire(memory, freedAt) < slots.length;
    }

    /** Returns the slot of the next message. */
    public int nextSlot() {
        return (int) (sent % slots.length);
    }

    /** Returns the number of the next message. */
    public long nextMessage() {
        return sent;
    }

    /** Returns whether the last message to a slot was sent out of a copy, so that its sender need not await its end. */
    public boolean isCopied(int slot) {
        return slots[slot].copied;
    }

    /** Returns whether the source of a message that was sent may be changed. */
    public boolean hasEnded(long message) {
        // a slot is used again only when its last message has ended
        return mapped != null || message < sent - slots.length || !slots[(int) (message % slots.length)].busy;
    }

    /** Returns the number of slots. */
    public int slots() {
        return slots.length;
    }

    /** Asks for {@link LaneUser#laneReady} when the next slot has been given back. A busy one ends by itself. */
    public void awaitSlot() {
        if (awaitsSlot || stopped || mapped != null) {
            return;
        }
        long needed = sent - slots.length + 1;
        if ((long) WORD.getAcquire(memory, freedAt) >= needed) {
            // the slot is free, but its last message has not ended: that makes the user ready as well
            return;
        }
        awaitsSlot = true;
        SignalWait wait = freedWait;
        if (wait == null) {
            freedWait = own.signal(freedAt).onAtLeast(needed, connection.loop(), (which, value, error) -> {
                awaitsSlot = false;
                ready(error);
            });
        } else {
            wait.arm(needed);
        }
    }

    /** Sends a header and a small message, which may be changed at once, with normal priority. */
    public void sendSmall(long header, long count, MemorySegment from, long offset, int length) {
        sendSmall(header, count, from, offset, length, TransferOptions.defaults());
    }

    /**
     * Sends a header and a small message, which may be changed at once.
     *
     * @param options the priority; no deadline and no event
     */
    public void sendSmall(
            long header, long count, MemorySegment from, long offset, int length, TransferOptions options) {
        Slot slot = slots[nextSlot()];
        MappedPeer to = mapped;
        if (to != null) {
            store(to, slot, header, count, from, offset, length);
            return;
        }
        staged.set(HEADER, slot.staging + LinkLayout.HEADER_AT, header);
        staged.set(HEADER, slot.staging + LinkLayout.HEADER_AT + Long.BYTES, count);
        if (length > 0) {
            MemorySegment.copy(from, offset, staged, slot.staging + LinkLayout.smallAt(length), length);
        }
        slot.copied = true;
        begin(slot, slot.ofSize(length, options));
    }

    private void store(MappedPeer to, Slot slot, long header, long count, MemorySegment from, long offset, int length) {
        MemorySegment target = to.memory();
        try {
            target.set(HEADER, slot.at + LinkLayout.HEADER_AT, header);
            target.set(HEADER, slot.at + LinkLayout.HEADER_AT + Long.BYTES, count);
            if (length > 0) {
                MemorySegment.copy(from, offset, target, slot.at + LinkLayout.smallAt(length), length);
            }
            WORD.setRelease(target, slot.at, sent / slots.length + 1);
        } catch (IllegalStateException e) {
            throw to.failed(e);
        }
        sent++;
        to.ring();
    }

    /** Copies a large message to a mapped peer. */
    private void store(MappedPeer to, Slot slot, MemorySegment from, long offset, long length) {
        try {
            Copy.copy(from, offset, to.memory(), slot.at + LinkLayout.LARGE_AT, length);
            WORD.setRelease(to.memory(), slot.at, sent / slots.length + 1);
        } catch (IllegalStateException e) {
            throw to.failed(e);
        }
        sent++;
        to.ring();
    }

    /** Sends a large message straight from a region. */
    public void send(MemoryRegion from, long offset, long length, TransferOptions options) {
        Slot slot = slots[nextSlot()];
        MappedPeer to = mapped;
        if (to != null) {
            store(to, slot, from.segment(), offset, length);
            return;
        }
        sent++;
        slot.copied = false;
        slot.busy = true;
        try {
            connection.writeWithSignal(
                    from, offset, remote, slot.at + LinkLayout.LARGE_AT, length, slot.arrived, options, slot);
        } catch (SluiceException e) {
            slot.busy = false;
            throw new LinkFailedException(peer, e);
        }
    }

    /** Prepares what {@link #send(PreparedTransfer)} sends whenever this slot is the next; not for a mapped peer. */
    public PreparedTransfer prepare(MemoryRegion from, long offset, long length, TransferOptions options) {
        Slot slot = slots[nextSlot()];
        return connection
                .prepared()
                .writeWithSignal(
                        from, offset, remote, slot.at + LinkLayout.LARGE_AT, length, slot.arrived, options, slot);
    }

    /** Sends a large message that was prepared for this slot. */
    public void send(PreparedTransfer prepared) {
        slots[nextSlot()].copied = false;
        begin(slots[nextSlot()], prepared);
    }

    private void begin(Slot slot, PreparedTransfer transfer) {
        sent++;
        slot.busy = true;
        try {
            transfer.start();
        } catch (SluiceException e) {
            slot.busy = false;
            throw new LinkFailedException(peer, e);
        }
    }

    // ---- receiving ----

    /** Returns whether the next message has arrived. */
    public boolean hasArrived() {
        int slot = (int) (received % slots.length);
        return (long) WORD.getAcquire(memory, arrivedAt[slot]) > received / slots.length;
    }

    /** Asks for {@link LaneUser#laneReady} when the next message has arrived. */
    public void awaitArrival() {
        if (awaitsArrival || stopped || mapped != null) {
            return;
        }
        awaitsArrival = true;
        int slot = (int) (received % slots.length);
        long needed = received / slots.length + 1;
        SignalWait wait = arrivalWaits[slot];
        if (wait == null) {
            arrivalWaits[slot] = own.signal(arrivedAt[slot])
                    .onAtLeast(needed, connection.loop(), (which, value, error) -> {
                        awaitsArrival = false;
                        ready(error);
                    });
        } else {
            wait.arm(needed);
        }
    }

    private void ready(@Nullable SluiceException error) {
        if (error == null && !stopped) {
            user.laneReady(this);
        }
    }

    /** The first word of the next message's header. */
    public long header() {
        return memory.get(HEADER, slotAt[(int) (received % slots.length)] + LinkLayout.HEADER_AT);
    }

    /** The second word of the next message's header. */
    public long headerCount() {
        return memory.get(HEADER, slotAt[(int) (received % slots.length)] + LinkLayout.HEADER_AT + Long.BYTES);
    }

    /** The memory in which messages arrive. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where the bytes of the next message are in {@link #memory()}, if it travels with its header. */
    public long smallAt(long bytes) {
        return slotAt[(int) (received % slots.length)] + LinkLayout.smallAt(bytes);
    }

    /** Where the bytes of the next message are in {@link #memory()}, if it is a large one. */
    public long largeAt() {
        return slotAt[(int) (received % slots.length)] + LinkLayout.LARGE_AT;
    }

    /** Says that the next message is processed; its slot goes back to the sender. */
    public void release() {
        received++;
        if (received - released >= freedAtOnce) {
            released += freedAtOnce;
            MappedPeer to = mapped;
            if (to != null) {
                giveBack(to);
                return;
            }
            try {
                giveBack();
            } catch (SluiceException ended) {
                // one that has left has taken all that it needs; messages of it may still be here
                freed(ended);
            }
        }
    }

    private void giveBack() {
        for (Freeing each : freeing) {
            if (!each.busy) {
                each.start();
                return;
            }
        }
        connection.signal(freeing[0].update, TransferOptions.defaults(), (transfer, error) -> freed(error));
    }

    private void giveBack(MappedPeer to) {
        try {
            WORD.setRelease(to.memory(), peersFreedAt, released);
        } catch (IllegalStateException ended) {
            // one that has left, or is lost, needs no slots
            return;
        }
        to.ring();
    }

    private void freed(@Nullable SluiceException error) {
        if (error != null && !stopped) {
            user.laneFailed(this, error);
        }
    }

    /** Gives slots back. */
    private final class Freeing implements TransferCallback {
        private final SignalUpdate update;
        private @Nullable PreparedTransfer transfer;
        private boolean busy;

        Freeing(SignalUpdate update) {
            this.update = update;
        }

        void start() {
            PreparedTransfer prepared = transfer;
            if (prepared == null) {
                prepared = connection.prepared().signal(update, TransferOptions.defaults(), this);
                transfer = prepared;
            }
            busy = true;
            try {
                prepared.start();
            } catch (SluiceException e) {
                busy = false;
                throw e;
            }
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            busy = false;
            freed(error);
        }
    }

    // ---- the collective that runs ----

    /** Returns whether a header was sent for a collective. */
    public boolean sendsFor(long sequence) {
        return sendingFor == sequence;
    }

    /** Says that a header was sent for a collective. */
    public void sendingFor(long sequence) {
        sendingFor = sequence;
    }

    /** Returns whether a header has arrived for a collective. */
    public boolean receivesFor(long sequence) {
        return receivingFor == sequence;
    }

    /** Says that a header has arrived for a collective. */
    public void receivingFor(long sequence) {
        receivingFor = sequence;
    }

    /** Returns the first step that waits for a slot, or -1. */
    public int firstWaiting() {
        return firstWaiting;
    }

    /**
     * Adds a step that waits for a slot.
     *
     * @param next the successor of each waiting step
     */
    public void addWaiting(int step, int[] next) {
        next[step] = -1;
        if (firstWaiting < 0) {
            firstWaiting = step;
        } else {
            next[lastWaiting] = step;
        }
        lastWaiting = step;
    }

    /** Removes the first step that waits. */
    public void removeWaiting(int[] next) {
        firstWaiting = next[firstWaiting];
    }

    /** Stops waiting: the user gets no more calls but those for messages that were sent. */
    public void stop() {
        stopped = true;
        SignalWait freed = freedWait;
        if (freed != null) {
            freed.close();
        }
        for (SignalWait wait : arrivalWaits) {
            if (wait != null) {
                wait.close();
            }
        }
    }
}
