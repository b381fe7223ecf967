package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallKind;

/** The facts about an observed call on an expert buffer, for conventions and handlers. Thread-safe. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class ExpertContext extends Observation.Context {
    private final ExpertBuffer buffer;
    private final ExpertCallKind kind;
    private final CallWork work = new CallWork();

    ExpertContext(ExpertBuffer buffer, ExpertCallKind kind) {
        this.buffer = buffer;
        this.kind = kind;
    }

    /**
     * Returns the buffer.
     *
     * @return the buffer, whose metrics have its team and rank
     */
    public ExpertBuffer buffer() {
        return buffer;
    }

    /**
     * Returns the kind of call.
     *
     * @return the kind
     */
    public ExpertCallKind kind() {
        return kind;
    }

    /**
     * Returns the outcome.
     *
     * @return {@link TransferOutcome#UNKNOWN} until the call has ended or its subscriber has cancelled
     */
    public TransferOutcome outcome() {
        return work.outcome();
    }

    ObservedWork work() {
        return work;
    }
}
