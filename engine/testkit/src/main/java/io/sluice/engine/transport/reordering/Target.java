package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Carries out what the peer asks for on one lane, each packet once, and answers. */
final class Target {
    private final EndpointContext context;
    private final OutboundPackets out;
    private final Map<Long, ArrivingWrite> writes = new HashMap<>();
    private final Set<ReadAnswer> reads = new LinkedHashSet<>();

    Target(EndpointContext context, OutboundPackets out) {
        this.context = context;
        this.out = out;
    }

    /** A packet of a request. */
    void deliver(Packet packet) {
        switch (packet.kind()) {
            case WRITE -> write(packet);
            case READ -> read(packet);
            case PUT, SIGNAL, FETCH_ADD, COMPARE_AND_SWAP -> word(packet);
            case DATA, ANSWER -> throw new ProtocolException("an answer is no request");
        }
    }

    private void write(Packet packet) {
        ArrivingWrite write = writes.computeIfAbsent(
                packet.request(),
                number -> new ArrivingWrite(
                        packet, context.exportedRegion(packet.region().handle())));
        write.place(packet);
        if (!write.isComplete()) {
            return;
        }
        writes.remove(packet.request());
        write.release();
        CompletionStatus status = write.status();
        if (status == CompletionStatus.SUCCESS && !write.isWithdrawn()) {
            context.served(WorkRequest.Opcode.WRITE, packet.length());
            if (packet.hasSignal()) {
                status = signal(packet);
            }
        }
        answer(packet, status, 0);
    }

    /** The signal of a write whose bytes are all in place. */
    private CompletionStatus signal(Packet packet) {
        RemoteKey key = packet.signal();
        return onWord(
                WorkRequest.Opcode.SIGNAL,
                key,
                packet.signalOffset(),
                WorkRequest.WORD_BYTES,
                region -> region.fetchAdd(packet.signalOffset(), packet.signalAddend()));
    }

    private void word(Packet packet) {
        long[] fetched = {0};
        CompletionStatus status =
                onWord(packet.kind().operation(), packet.region(), packet.offset(), packet.length(), region -> {
                    fetched[0] = execute(packet, region);
                });
        answer(packet, status, fetched[0]);
    }

    private static long execute(Packet packet, ExportedRegion region) {
        return switch (packet.kind()) {
            case PUT -> {
                for (int i = 0; i < packet.length(); i++) {
                    byte value = (byte) (packet.operand() >>> (Byte.SIZE * i));
                    region.memory().segment().set(ValueLayout.JAVA_BYTE, packet.offset() + i, value);
                }
                yield 0;
            }
            case SIGNAL, FETCH_ADD -> region.fetchAdd(packet.offset(), packet.operand());
            case COMPARE_AND_SWAP -> region.compareAndSwap(packet.offset(), packet.expected(), packet.operand());
            case WRITE, READ, DATA, ANSWER -> throw new IllegalStateException("no operation on a word");
        };
    }

    /** An operation on a word of a leased region. */
    @FunctionalInterface
    private interface WordEffect {
        void on(ExportedRegion region);
    }

    private CompletionStatus onWord(
            WorkRequest.Opcode operation, RemoteKey key, long offset, long length, WordEffect effect) {
        ExportedRegion region = context.exportedRegion(key.handle());
        if (region == null) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        if (length < 1 || length > WorkRequest.WORD_BYTES) {
            throw new ProtocolException("a word of " + length + " bytes");
        }
        CompletionStatus status = region.acquire(operation, key.key(), key.epoch(), offset, length);
        if (status != CompletionStatus.SUCCESS) {
            return status;
        }
        try {
            effect.on(region);
        } catch (IllegalStateException | InternalError gone) {
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        } finally {
            region.release();
        }
        context.served(operation, length);
        return status;
    }

    private void read(Packet packet) {
        RemoteKey key = packet.region();
        ExportedRegion region = context.exportedRegion(key.handle());
        CompletionStatus status = region == null
                ? CompletionStatus.UNKNOWN_REGION
                : region.acquire(WorkRequest.Opcode.READ, key.key(), key.epoch(), packet.offset(), packet.length());
        if (region == null || status != CompletionStatus.SUCCESS) {
            answer(packet, status, 0);
            return;
        }
        ReadAnswer bytes = new ReadAnswer(packet, region, this);
        reads.add(bytes);
        out.add(bytes);
    }

    private void answer(Packet packet, CompletionStatus status, long word) {
        if (status != CompletionStatus.SUCCESS) {
            context.refused();
        }
        out.add(new Answer(packet.request(), status, word));
    }

    /** All bytes of a read have been taken. */
    void readServed(long length) {
        context.served(WorkRequest.Opcode.READ, length);
    }

    /** A read holds its lease no longer. */
    void readEnded(ReadAnswer read) {
        reads.remove(read);
    }

    /** Whether packets of a request are still to come. */
    boolean isAwaitingPackets() {
        return !writes.isEmpty();
    }

    void regionClosing() {
        writes.values().forEach(ArrivingWrite::regionClosing);
        List.copyOf(reads).forEach(ReadAnswer::regionClosing);
    }

    boolean holdsClosedLease() {
        return writes.values().stream().anyMatch(ArrivingWrite::holdsClosedLease)
                || reads.stream().anyMatch(ReadAnswer::holdsClosedLease);
    }

    void close() {
        writes.values().forEach(ArrivingWrite::release);
        writes.clear();
        List.copyOf(reads).forEach(ReadAnswer::release);
    }
}
