package io.sluice.engine.flow;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/**
 * Why a connection ended, and the errors that follow from it for transfers.
 *
 * @param kind which side ended it
 * @param reason the reason in words
 * @param cause the exception, or {@code null}
 */
public record ConnectionEnd(
        Kind kind, String reason, @Nullable Throwable cause) {
    /** Which side ended the connection. */
    public enum Kind {
        /** This side closed it. */
        CLOSED_HERE,
        /** The peer closed the connection. */
        CLOSED_BY_PEER,
        /** The peer was lost. */
        LOST
    }

    /**
     * Returns the error of operations of which no part reached the peer, and of reads.
     *
     * @return a new exception
     */
    public SluiceException error() {
        return kind == Kind.CLOSED_HERE
                ? new ConnectionClosedException(reason, cause)
                : new ConnectionLostException(reason, cause);
    }

    /**
     * Returns the error of a connect whose connection did not open.
     *
     * @return an exception
     */
    public SluiceException notOpened() {
        if (kind == Kind.CLOSED_HERE) {
            return error();
        }
        // this error says that the connect may be tried again
        return cause instanceof LimitExceededException limit ? limit : new ConnectFailedException(reason, cause);
    }

    /**
     * Returns the error of a notification that was sent.
     *
     * @return a new exception
     */
    public SluiceException notificationUnknown() {
        return new OutcomeUnknownException(
                "the notification was in flight when the connection ended (" + reason
                        + "): the peer may or may not have received it",
                cause);
    }

    /**
     * Returns the error of a write of which parts may have reached the peer.
     *
     * @return a new exception
     */
    public SluiceException outcomeUnknown() {
        return new OutcomeUnknownException(
                "the operation was in flight when the connection ended (" + reason
                        + "): the target's bytes may be the old ones, the new ones, or a mixture",
                cause);
    }
}
