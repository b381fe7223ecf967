package io.sluice.reactor;

import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import java.util.function.Function;

/** A transfer that changes the peer's memory and is described by more than a range. */
final class OperationMono extends TransferMono {
    private final String name;
    private final long bytes;
    private final Function<? super TransferCallback, ? extends Transfer> operation;

    /**
     * Creates one for an operation.
     *
     * @param name the operation's name
     * @param bytes how many bytes a success moves
     * @param operation submits the operation with the given callback
     */
    OperationMono(String name, long bytes, Function<? super TransferCallback, ? extends Transfer> operation) {
        this.name = name;
        this.bytes = bytes;
        this.operation = operation;
    }

    @Override
    Transfer submit(TransferCallback callback) {
        return operation.apply(callback);
    }

    @Override
    long bytes() {
        return bytes;
    }

    @Override
    public String stepName() {
        return name;
    }
}
