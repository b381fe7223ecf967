package io.sluice.reactor.recovery;

import io.sluice.reactor.ReactiveConnection;
import java.time.Duration;

/** An event of a {@link ReconnectingConnection}. */
public sealed interface Reconnection {
    /**
     * A connection was made.
     *
     * @param connection the new one
     * @param failures how many attempts in a row had failed, and connections had not lasted, before it
     * @param downtime how long there was none: since the last one's end, or since the first one was wanted
     */
    record Connected(ReactiveConnection connection, int failures, Duration downtime) implements Reconnection {}

    /**
     * The connection has ended; another is made after a pause.
     *
     * @param cause how it ended
     * @param lasted how long there was one
     * @param pause until the next attempt
     */
    record Lost(Throwable cause, Duration lasted, Duration pause) implements Reconnection {}

    /**
     * An attempt to connect has failed; another is made after a pause.
     *
     * @param cause what it failed with
     * @param failures how many in a row that makes
     * @param pause until the next attempt
     */
    record AttemptFailed(Throwable cause, int failures, Duration pause) implements Reconnection {}

    /**
     * The peer is left alone for a while.
     *
     * @param cause the failure that opened the circuit
     * @param pause until one attempt is made
     */
    record CircuitOpened(Throwable cause, Duration pause) implements Reconnection {}

    /** The peer works again: the connection of the one attempt has lasted. */
    record CircuitClosed() implements Reconnection {}

    /**
     * There were as many failures in a row as the options allow.
     *
     * @param cause the last of them
     */
    record GivenUp(Throwable cause) implements Reconnection {}
}
