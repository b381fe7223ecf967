package io.sluice.engine.flow;

import io.sluice.engine.IntegrityException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest.Opcode;
import org.jspecify.annotations.Nullable;

/** The errors that follow from how work requests ended. */
public final class TransferErrors {
    private TransferErrors() {}

    /**
     * The error of an element that was refused.
     *
     * @param status how a work request of it ended: neither successfully nor flushed
     * @param operation what it did
     * @return the error
     */
    public static SluiceException refused(CompletionStatus status, Opcode operation) {
        return switch (status) {
            case UNKNOWN_REGION ->
                new RemoteAccessException(
                        Reason.UNKNOWN_REGION, "the peer has closed the region, or it is not attached any more");
            case BAD_KEY -> new RemoteAccessException(Reason.BAD_KEY, "the peer does not accept the region's key");
            case STALE_EPOCH ->
                new RemoteAccessException(Reason.STALE_EPOCH, "the peer's engine has been restarted; attach again");
            case OUT_OF_BOUNDS -> new RemoteAccessException(Reason.OUT_OF_BOUNDS, "the range leaves the peer's region");
            case ACCESS_DENIED ->
                new RemoteAccessException(
                        Reason.ACCESS_DENIED,
                        "the peer gives no right to " + (operation.changesRemote() ? "write" : "read") + " the region");
            case REMOTE_MEMORY_FAULT ->
                new RemoteAccessException(
                        Reason.MEMORY_FAULT,
                        "the peer's memory was freed while it was registered, or its device has failed");
            case MISALIGNED ->
                new RemoteAccessException(Reason.MISALIGNED, "the word is not aligned to 8 bytes in the peer's memory");
            case ATOMIC_DOMAIN ->
                new RemoteAccessException(
                        Reason.ATOMIC_DOMAIN,
                        "the peer has registered the region for atomic operations by its network adapter only");
            case UNSUPPORTED ->
                new RemoteAccessException(
                        Reason.UNSUPPORTED,
                        "the peer cannot execute the operation: its network adapter does not support it, or its"
                                + " processor does not access memory of the region's kind");
            case INTEGRITY ->
                new IntegrityException(
                        operation.changesRemote()
                                ? "the checksum shows that bytes were changed in transit; the content of the peer's range is"
                                        + " undefined"
                                : "the checksum shows that bytes were changed in transit, or while they were read; the content"
                                        + " of the local range is undefined");
            case OUTCOME_UNKNOWN ->
                new OutcomeUnknownException("the lane broke while the operation was in flight: it may or may not have"
                        + " taken effect, and is not sent again");
            case LOCAL_MEMORY_FAULT ->
                new RegionClosedException(
                        "the local memory was freed while it was registered, belongs to a mapped file that was truncated,"
                                + " or its device has failed");
            case FLUSHED, FLUSHED_UNSENT, SUCCESS -> throw new IllegalArgumentException("not a refusal: " + status);
        };
    }

    /**
     * The error of an element that the end of its connection has cut off.
     *
     * @param changed whether a part of it may have changed the target's memory
     * @param end why the connection ended
     */
    static SluiceException cutOff(boolean changed, @Nullable ConnectionEnd end) {
        ConnectionEnd reason =
                end == null ? new ConnectionEnd(ConnectionEnd.Kind.LOST, "the connection was lost", null) : end;
        return changed ? reason.outcomeUnknown() : reason.error();
    }
}
