package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.RemoteKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A packet in memory, to be filled in or as it came. Any packet of a request may be the first to be delivered, so each
 * describes the request as a whole. The header, network byte order:
 *
 * <pre>
 *   0  magic            4 bytes
 *   4  kind             1
 *   5  status           1, of ANSWER
 *   6  flags            2
 *   8  sequence         8, of the packet in its direction of the lane
 *  16  request          8, the initiator's number of it
 *  24  region           24, handle, key and epoch
 *  48  offset           8, of the request in the region
 *  56  length           8, of the request
 *  64  position         8, of the payload in the request
 *  72  payload length   8
 *  80  operand          8; of ANSWER: what the word held
 *  88  expected         8
 *  96  signal's region  24
 * 120  signal's offset  8
 * 128  signal's addend  8
 * </pre>
 */
final class Packet {
    static final int HEADER_BYTES = 136;

    /** The most bytes that a packet carries. */
    static final int MOST_PAYLOAD = 256 * 1024;

    static final int MOST_BYTES = HEADER_BYTES + MOST_PAYLOAD;

    private static final int LEAST_PAYLOAD = 4096;
    private static final int PACKETS_A_REQUEST = 16;

    private static final int MAGIC = 0x52454F52;
    private static final int HAS_SIGNAL = 1;
    private static final int WITHDRAWN = 2;

    private static final int KIND_AT = 4;
    private static final int STATUS_AT = 5;
    private static final int FLAGS_AT = 6;
    private static final int SEQUENCE_AT = 8;
    private static final int REQUEST_AT = 16;
    private static final int REGION_AT = 24;
    private static final int OFFSET_AT = 48;
    private static final int LENGTH_AT = 56;
    private static final int POSITION_AT = 64;
    private static final int PAYLOAD_LENGTH_AT = 72;
    private static final int OPERAND_AT = 80;
    private static final int EXPECTED_AT = 88;
    private static final int SIGNAL_AT = 96;
    private static final int SIGNAL_OFFSET_AT = 120;
    private static final int SIGNAL_ADDEND_AT = 128;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment bytes;

    private Packet(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** A packet to be filled in. */
    static Packet blank(MemorySegment bytes, PacketKind kind, long request) {
        bytes.asSlice(0, HEADER_BYTES).fill((byte) 0);
        Packet packet = new Packet(bytes);
        bytes.set(INT, 0, MAGIC);
        bytes.set(BYTE, KIND_AT, (byte) kind.ordinal());
        bytes.set(LONG, REQUEST_AT, request);
        return packet;
    }

    /** A packet as it came; its payload may still be missing. */
    static Packet arrived(MemorySegment bytes) {
        Packet packet = new Packet(bytes);
        long payload = packet.payloadLength();
        if (bytes.get(INT, 0) != MAGIC || payload < 0 || payload > MOST_PAYLOAD) {
            throw new ProtocolException("a lane carries bytes that are no packet");
        }
        return packet;
    }

    /** How many bytes of a request one packet carries: small ones, so that even a small request is several packets. */
    static long payloadOf(long requestLength) {
        return Math.clamp(Long.highestOneBit(requestLength / PACKETS_A_REQUEST), LEAST_PAYLOAD, MOST_PAYLOAD);
    }

    Packet region(RemoteKey key, long offset, long length) {
        put(REGION_AT, key);
        bytes.set(LONG, OFFSET_AT, offset);
        bytes.set(LONG, LENGTH_AT, length);
        return this;
    }

    Packet operands(long operand, long expected) {
        bytes.set(LONG, OPERAND_AT, operand);
        bytes.set(LONG, EXPECTED_AT, expected);
        return this;
    }

    Packet signal(RemoteKey key, long offset, long addend) {
        flag(HAS_SIGNAL);
        put(SIGNAL_AT, key);
        bytes.set(LONG, SIGNAL_OFFSET_AT, offset);
        bytes.set(LONG, SIGNAL_ADDEND_AT, addend);
        return this;
    }

    Packet status(int code) {
        bytes.set(BYTE, STATUS_AT, (byte) code);
        return this;
    }

    Packet sequence(long number) {
        bytes.set(LONG, SEQUENCE_AT, number);
        return this;
    }

    /** Copies a part of the request's bytes in; throws what the memory throws if it was freed. */
    Packet payload(long position, MemorySegment from, long at, long length) {
        copy(from, at, bytes, HEADER_BYTES, length);
        bytes.set(LONG, POSITION_AT, position);
        bytes.set(LONG, PAYLOAD_LENGTH_AT, length);
        return this;
    }

    /** Says that no more than these bytes of the request will come, and that it has failed. */
    Packet withdrawn(long position) {
        flag(WITHDRAWN);
        bytes.set(LONG, POSITION_AT, position);
        return this;
    }

    long size() {
        return HEADER_BYTES + payloadLength();
    }

    PacketKind kind() {
        return PacketKind.of(bytes.get(BYTE, KIND_AT));
    }

    int status() {
        return Byte.toUnsignedInt(bytes.get(BYTE, STATUS_AT));
    }

    long sequence() {
        return bytes.get(LONG, SEQUENCE_AT);
    }

    long request() {
        return bytes.get(LONG, REQUEST_AT);
    }

    RemoteKey region() {
        return key(REGION_AT);
    }

    long offset() {
        return bytes.get(LONG, OFFSET_AT);
    }

    long length() {
        return bytes.get(LONG, LENGTH_AT);
    }

    long position() {
        return bytes.get(LONG, POSITION_AT);
    }

    long payloadLength() {
        return bytes.get(LONG, PAYLOAD_LENGTH_AT);
    }

    long operand() {
        return bytes.get(LONG, OPERAND_AT);
    }

    long expected() {
        return bytes.get(LONG, EXPECTED_AT);
    }

    boolean hasSignal() {
        return has(HAS_SIGNAL);
    }

    RemoteKey signal() {
        return key(SIGNAL_AT);
    }

    long signalOffset() {
        return bytes.get(LONG, SIGNAL_OFFSET_AT);
    }

    long signalAddend() {
        return bytes.get(LONG, SIGNAL_ADDEND_AT);
    }

    boolean isWithdrawn() {
        return has(WITHDRAWN);
    }

    /** Copies the payload out; throws what the memory throws if it was freed. */
    void copyPayload(MemorySegment to, long at) {
        copy(bytes, HEADER_BYTES, to, at, payloadLength());
    }

    /** Checks that the payload lies in a request of this length. */
    void checkPayloadWithin(long requestLength) {
        if (position() < 0 || position() > requestLength - payloadLength()) {
            throw new ProtocolException("a packet's payload leaves its request");
        }
    }

    private void put(int at, RemoteKey key) {
        bytes.set(LONG, at, key.handle());
        bytes.set(LONG, at + Long.BYTES, key.key());
        bytes.set(LONG, at + 2L * Long.BYTES, key.epoch());
    }

    private RemoteKey key(int at) {
        return new RemoteKey(
                bytes.get(LONG, at), bytes.get(LONG, at + Long.BYTES), bytes.get(LONG, at + 2L * Long.BYTES));
    }

    private void flag(int flag) {
        bytes.set(SHORT, FLAGS_AT, (short) (bytes.get(SHORT, FLAGS_AT) | flag));
    }

    private boolean has(int flag) {
        return (bytes.get(SHORT, FLAGS_AT) & flag) != 0;
    }

    /** Between a packet and memory of which some may be missing; a packet may lie on the heap. */
    private static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (!from.isMapped() && !to.isMapped()) {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment between = arena.allocate(bytes);
            FaultCheckedCopy.copy(from, fromOffset, between, 0, bytes);
            FaultCheckedCopy.copy(between, 0, to, toOffset, bytes);
        }
    }
}
