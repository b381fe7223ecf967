package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.TransferResult;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** The facts about an observed transfer, for conventions and handlers. Thread-safe. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class TransferContext extends Observation.Context {
    private final Connection connection;
    private final Operation operation;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicReference<TransferOutcome> outcome = new AtomicReference<>(TransferOutcome.UNKNOWN);

    TransferContext(Connection connection, Operation operation) {
        this.connection = connection;
        this.operation = operation;
    }

    /**
     * Returns the kind of operation.
     *
     * @return the operation
     */
    public Operation operation() {
        return operation;
    }

    /**
     * Returns the transport.
     *
     * @return the transport's name
     */
    public String transport() {
        return connection.transport();
    }

    /**
     * Returns the peer whose memory is accessed.
     *
     * @return the peer's identity
     */
    public EngineId peer() {
        return connection.peer();
    }

    /**
     * Returns the number of bytes moved.
     *
     * @return the bytes of the results so far, without those with an error
     */
    public long bytes() {
        return bytes.get();
    }

    /**
     * Returns the outcome.
     *
     * @return {@link TransferOutcome#UNKNOWN} until the transfer has ended
     */
    public TransferOutcome outcome() {
        return outcome.get();
    }

    ObservedWork work() {
        return new ObservedWork() {
            @Override
            public void emitted(Object value) {
                if (value instanceof TransferResult result && result.error() == null) {
                    bytes.addAndGet(result.bytes());
                }
            }

            @Override
            public TransferOutcome outcomeOf(Throwable error) {
                return TransferOutcome.of(error);
            }

            @Override
            public boolean end(TransferOutcome how) {
                return outcome.compareAndSet(TransferOutcome.UNKNOWN, how);
            }
        };
    }
}
