package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics.Operation;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** The facts about an observed transfer, for conventions and handlers. Any thread. */
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
     * What it does.
     *
     * @return the operation
     */
    public Operation operation() {
        return operation;
    }

    /**
     * How its bytes go.
     *
     * @return the transport's name
     */
    public String transport() {
        return connection.transport();
    }

    /**
     * Whose memory it is about.
     *
     * @return the peer's identity
     */
    public EngineId peer() {
        return connection.peer();
    }

    /**
     * What it has moved.
     *
     * @return bytes of the results that have come, without those with an error
     */
    public long bytes() {
        return bytes.get();
    }

    /**
     * How it has ended.
     *
     * @return {@link TransferOutcome#UNKNOWN} until then
     */
    public TransferOutcome outcome() {
        return outcome.get();
    }

    void moved(long more) {
        bytes.addAndGet(more);
    }

    /** False if it has ended before. */
    boolean end(TransferOutcome how) {
        return outcome.compareAndSet(TransferOutcome.UNKNOWN, how);
    }
}
