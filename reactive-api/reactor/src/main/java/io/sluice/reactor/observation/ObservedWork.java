package io.sluice.reactor.observation;

/** What an observation is of. Thread-safe. */
interface ObservedWork {
    /** Called with what the subscriber receives. */
    void emitted(Object value);

    /** How an error counts. */
    TransferOutcome outcomeOf(Throwable error);

    /** Sets the outcome; returns false if there already was one. */
    boolean end(TransferOutcome outcome);
}
