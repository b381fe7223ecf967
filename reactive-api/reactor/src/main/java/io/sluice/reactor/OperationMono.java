package io.sluice.reactor;

import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import java.util.function.Function;

/** A transfer that changes the peer's memory and needs more than a range to say how. */
final class OperationMono extends TransferMono {
    private final String name;
    private final long bytes;
    private final Function<? super TransferCallback, ? extends Transfer> operation;

    /**
     * For an operation.
     *
     * @param name what it is called
     * @param bytes how many a success moves
     * @param operation submits it with the callback that it is given
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
