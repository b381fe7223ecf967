package io.sluice.engine;

/**
 * A start event of a device's stream, such as an event recorded after the kernel that fills a transfer's source. Passed
 * to {@link TransferOptions#startAfter(StartEvent)}.
 *
 * <p>If the connection's transport orders its work on that device, the transfer is posted immediately and waits there:
 * the host takes no part, and {@link #whenHappened} is not called. The transfer holds its credits and leases from
 * posting on, also while it waits on the device. For every other transport, and for transfers that span connections,
 * the engine waits on the host by {@link #whenHappened} and posts afterwards.
 */
public interface StreamEvent extends StartEvent {
    /**
     * Returns the event's handle in the device's driver.
     *
     * @return a handle such as a {@code cudaEvent_t}; valid until the transfers that start after it have ended and are
     *     quiescent
     */
    long handle();

    /**
     * Returns the device of the event.
     *
     * @return the device's stable id, as {@link RegionMemory#device()} names it
     */
    String device();
}
