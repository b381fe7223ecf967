package io.sluice.engine;

/**
 * Credits that bound what is in flight: an operation credit for each element, a byte credit for each chunk's bytes, held
 * from posting to completion. All methods may be called from any thread and read live values.
 */
public interface InFlightWindow {
    /**
     * The most operations in flight.
     *
     * @return the configured limit
     */
    int operationLimit();

    /**
     * The most bytes in flight.
     *
     * @return the configured limit
     */
    long byteLimit();

    /**
     * Operations in flight now.
     *
     * @return 0 to {@link #operationLimit()}
     */
    int operations();

    /**
     * Bytes in flight now.
     *
     * @return 0 to {@link #byteLimit()}
     */
    long bytes();

    /**
     * The high-water mark of operations.
     *
     * @return the most that was ever in flight at one instant
     */
    int maxOperationsSeen();

    /**
     * The high-water mark of bytes.
     *
     * @return the most that was ever in flight at one instant
     */
    long maxBytesSeen();
}
