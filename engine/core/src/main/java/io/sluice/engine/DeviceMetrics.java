package io.sluice.engine;

/**
 * The metrics of one device, such as a GPU, that carries out transfers of an engine, read live. Counters only grow. All methods may be
 * called from any thread and cost a few reads for each poller.
 */
public interface DeviceMetrics {
    /** The parts of a device that execute work. */
    enum Unit {
        /** A kernel, which takes multiprocessors. */
        KERNEL,
        /** A copy engine. */
        COPY_ENGINE,
        /** Either of them, between the device and pinned memory of the host, whose bytes another transport carries: staged copies. */
        STAGED
    }

    /**
     * Returns the device.
     *
     * @return its stable id, such as {@code GPU-8c7a1d2e-…}
     */
    String device();

    /**
     * Returns the number of pieces of work that the device was given: launches of kernels, or copies.
     *
     * @param unit what carries them out
     * @return the count
     */
    long launches(Unit unit);

    /**
     * Returns the number of bytes that the device was given to move.
     *
     * @param unit what moves them
     * @return bytes
     */
    long bytes(Unit unit);

    /**
     * Returns the number of requests that the device has done.
     *
     * @return the count
     */
    long requests();

    /**
     * Returns the time that these requests took on the device, from being posted to the poller's noticing that they are done: their
     * wait behind other work is included. Times of requests that overlap add up.
     *
     * @return nanoseconds
     */
    long requestNanos();

    /**
     * Returns the device's memory that the engine has allocated for regions.
     *
     * @return bytes
     */
    long allocatedBytes();

    /**
     * Returns the memory of the host that is pinned for the device: of regions that it has touched, and of the engine's own.
     *
     * @return bytes
     */
    long pinnedBytes();
}
