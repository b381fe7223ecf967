package io.sluice.comm.nccl;

import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends and receives that both ranks give to the library as one group, in the same order. The loop fills it, the library's thread
 * reads it until the stream has stored its number, and then the loop has it back. Reused.
 */
final class TransferGroup {
    /** The most operations of one. */
    static final int MOST_OPERATIONS = 128;

    private final long[] addresses = new long[MOST_OPERATIONS];
    private final long[] lengths = new long[MOST_OPERATIONS];
    private final boolean[] sends = new boolean[MOST_OPERATIONS];
    private int count;
    private long number;
    // the loop's alone
    private final List<WorkRequest> requests = new ArrayList<>(MOST_OPERATIONS);
    private final List<ServedRequest> served = new ArrayList<>(MOST_OPERATIONS);
    private long formedAt;

    void begin(long itsNumber, long now) {
        number = itsNumber;
        formedAt = now;
        count = 0;
        requests.clear();
        served.clear();
    }

    /** Adds a request of this side's. */
    void add(WorkRequest request) {
        requests.add(request);
        add(request.localAddress(), request.length(), request.operation() == WorkRequest.Opcode.WRITE);
    }

    /** Adds one of the peer's. */
    void add(ServedRequest request) {
        served.add(request);
        add(request.address(), request.length(), request.operation() == WorkRequest.Opcode.READ);
    }

    private void add(long address, long length, boolean isSend) {
        addresses[count] = address;
        lengths[count] = length;
        sends[count++] = isSend;
    }

    long number() {
        return number;
    }

    long formedAt() {
        return formedAt;
    }

    int count() {
        return count;
    }

    long address(int index) {
        return addresses[index];
    }

    long length(int index) {
        return lengths[index];
    }

    boolean isSend(int index) {
        return sends[index];
    }

    List<WorkRequest> requests() {
        return requests;
    }

    List<ServedRequest> served() {
        return served;
    }
}
