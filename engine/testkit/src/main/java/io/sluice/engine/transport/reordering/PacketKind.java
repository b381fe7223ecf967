package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.WorkRequest;

/** The kind of a packet: a request of the initiator's, of the same name as its operation, or the target's answer. */
enum PacketKind {
    /** A part of a write's bytes. */
    WRITE,
    READ,
    PUT,
    SIGNAL,
    FETCH_ADD,
    COMPARE_AND_SWAP,
    /** A part of the bytes that are read. */
    DATA,
    /** How a request ended; of a read only that it was refused. */
    ANSWER;

    private static final PacketKind[] VALUES = values();

    static PacketKind of(WorkRequest.Opcode operation) {
        return switch (operation) {
            case WRITE -> WRITE;
            case READ -> READ;
            case PUT -> PUT;
            case SIGNAL -> SIGNAL;
            case FETCH_ADD -> FETCH_ADD;
            case COMPARE_AND_SWAP -> COMPARE_AND_SWAP;
        };
    }

    static PacketKind of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw new ProtocolException("a packet of unknown kind " + code);
        }
        return VALUES[code];
    }

    /** The operation of a request; not for answers. */
    WorkRequest.Opcode operation() {
        return switch (this) {
            case WRITE -> WorkRequest.Opcode.WRITE;
            case READ -> WorkRequest.Opcode.READ;
            case PUT -> WorkRequest.Opcode.PUT;
            case SIGNAL -> WorkRequest.Opcode.SIGNAL;
            case FETCH_ADD -> WorkRequest.Opcode.FETCH_ADD;
            case COMPARE_AND_SWAP -> WorkRequest.Opcode.COMPARE_AND_SWAP;
            case DATA, ANSWER -> throw new IllegalStateException("an answer asks for nothing");
        };
    }
}
