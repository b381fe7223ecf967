package io.sluice.engine;

/** The kinds of errors that end an operation: few, so that each can be counted. */
public enum ErrorKind {
    /** {@link RemoteAccessException}: key, bounds or rights. */
    REMOTE_ACCESS,
    /** {@link RegionClosedException} and {@link RegionNotFoundException}. */
    REGION,
    /** {@link ConnectionLostException}, except for the next two. */
    CONNECTION_LOST,
    /** {@link ConnectionClosedException}. */
    CONNECTION_CLOSED,
    /** {@link OutcomeUnknownException}. */
    OUTCOME_UNKNOWN,
    /** {@link TransferTimeoutException}. */
    TIMEOUT,
    /** {@link IntegrityException}. */
    INTEGRITY,
    /** {@link StartEventException}. */
    START_EVENT,
    /** Any other. */
    OTHER;

    /**
     * Returns the kind of an error. For a vectored transfer or a list of pages it is the kind of the first failure.
     *
     * @param error the error that ended an operation
     * @return its kind
     */
    public static ErrorKind of(SluiceException error) {
        return switch (error) {
            case RemoteAccessException remote -> REMOTE_ACCESS;
            case RegionClosedException closed -> REGION;
            case RegionNotFoundException unknown -> REGION;
            // before what they are kinds of
            case ConnectionClosedException closed -> CONNECTION_CLOSED;
            case OutcomeUnknownException unknown -> OUTCOME_UNKNOWN;
            case ConnectionLostException lost -> CONNECTION_LOST;
            case TransferTimeoutException timeout -> TIMEOUT;
            case IntegrityException damaged -> INTEGRITY;
            case StartEventException event -> START_EVENT;
            case ElementsFailedException elements
            when elements.getCause() instanceof SluiceException first -> of(first);
            case PagesFailedException pages when pages.getCause() instanceof SluiceException first -> of(first);
            default -> OTHER;
        };
    }
}
