package io.sluice.engine.transport.reordering;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A work request that remembers how it ended. */
final class OwnedRequest extends WorkRequest {
    private final List<CompletionStatus> ends = new ArrayList<>();

    static OwnedRequest write(MemorySegment from, RemoteKey key, long offset) {
        OwnedRequest request = new OwnedRequest();
        request.describe(Opcode.WRITE, RegionMemory.host(from), null, 0, from.byteSize(), key, offset);
        return request;
    }

    static OwnedRequest read(MemorySegment to, RemoteKey key, long offset) {
        OwnedRequest request = new OwnedRequest();
        request.describe(Opcode.READ, RegionMemory.host(to), null, 0, to.byteSize(), key, offset);
        return request;
    }

    static OwnedRequest word(Opcode operation, RemoteKey key, long offset, int bytes, long operand, long expected) {
        OwnedRequest request = new OwnedRequest();
        request.describeWord(operation, key, offset, bytes, operand, expected);
        return request;
    }

    static OwnedRequest fetchAdd(RemoteKey key, long offset, long addend) {
        return word(Opcode.FETCH_ADD, key, offset, WORD_BYTES, addend, 0);
    }

    OwnedRequest signalling(RemoteKey key, long offset, long addend) {
        addSignal(key, offset, addend);
        return this;
    }

    void ended(CompletionStatus status) {
        ends.add(status);
    }

    /** How it ended: one status, unless something is wrong. */
    List<CompletionStatus> ends() {
        return ends;
    }
}
