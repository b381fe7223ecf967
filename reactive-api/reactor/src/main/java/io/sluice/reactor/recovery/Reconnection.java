package io.sluice.reactor.recovery;

import io.sluice.reactor.ReactiveConnection;
import java.time.Duration;

/** An event of a {@link ReconnectingConnection}. */
public sealed interface Reconnection {
    /**
     * A connection was opened.
     *
     * @param connection the new connection
     * @param failures how many attempts had failed, and connections had not lasted, in a row before it
     * @param downtime how long there was no connection: since the last one ended, or since the first was needed
     */
    record Connected(ReactiveConnection connection, int failures, Duration downtime) implements Reconnection {}

    /**
     * The connection ended; another is opened after a pause.
     *
     * @param cause the error with which it ended
     * @param lasted how long the connection lasted
     * @param pause the time until the next attempt
     */
    record Lost(Throwable cause, Duration lasted, Duration pause) implements Reconnection {}

    /**
     * An attempt to connect failed; another is made after a pause.
     *
     * @param cause the attempt's error
     * @param failures how many failures in a row there are now
     * @param pause the time until the next attempt
     */
    record AttemptFailed(Throwable cause, int failures, Duration pause) implements Reconnection {}

    /**
     * The circuit opened: no attempts are made for a while.
     *
     * @param cause the failure that opened the circuit
     * @param pause the time until one attempt is made
     */
    record CircuitOpened(Throwable cause, Duration pause) implements Reconnection {}

    /** The peer works again: the connection of the one attempt has lasted. */
    record CircuitClosed() implements Reconnection {}

    /**
     * The connection gave up after as many failures in a row as the options allow.
     *
     * @param cause the last failure
     */
    record GivenUp(Throwable cause) implements Reconnection {}
}
