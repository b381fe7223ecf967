package io.sluice.engine;

/**
 * The credits that bound transfers in flight: an operation credit for each element and byte credits for each chunk,
 * held from posting to completion. All methods may be called from any thread and return live values.
 */
public interface InFlightWindow {
    /**
     * Returns the most operations that may be in flight.
     *
     * @return the configured limit
     */
    int operationLimit();

    /**
     * Returns the most bytes that may be in flight.
     *
     * @return the configured limit
     */
    long byteLimit();

    /**
     * Returns the number of operations in flight now.
     *
     * @return 0 to {@link #operationLimit()}
     */
    int operations();

    /**
     * Returns the number of bytes in flight now.
     *
     * @return 0 to {@link #byteLimit()}
     */
    long bytes();

    /**
     * Returns the high-water mark of operations.
     *
     * @return the most that were ever in flight at once
     */
    int maxOperationsSeen();

    /**
     * Returns the high-water mark of bytes.
     *
     * @return the most that were ever in flight at once
     */
    long maxBytesSeen();
}
