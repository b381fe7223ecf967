package io.sluice.engine;

/**
 * A start event that a device's stream brings about, such as an event recorded behind the kernel that fills a transfer's
 * source. Given to {@link TransferOptions#startAfter(StartEvent)}.
 *
 * <p>Where the connection's transport orders its work on that device, the transfer is posted at once and waits there: the host
 * takes no part, and {@link #whenHappened} is not called. The transfer then holds its credits and leases from posting on,
 * also while it waits on the device. With every other transport, and for a transfer that spans connections, the engine waits on the host,
 * by {@link #whenHappened}, and posts afterwards.
 */
public interface StreamEvent extends StartEvent {
    /**
     * The event in the words of the device's driver.
     *
     * @return a handle such as a {@code cudaEvent_t}; valid until the transfers that start after it have ended
     */
    long handle();

    /**
     * Whose event it is.
     *
     * @return the device's stable id, as {@link RegionMemory#device()} names it
     */
    String device();
}
