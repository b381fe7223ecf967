package io.sluice.engine.transport.verbs;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.DmaBufferMemory.Flush;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The devices whose memory the peer of a connection writes to: bytes that have arrived there are flushed before anything that
 * follows it is shown. A device stays listed, as writes before a detach are flushed too. Confined to
 * the loop.
 */
final class ArrivedWrites {
    private Flush[] devices = {};

    /** The peer may write to memory of the device from now on; null if its writes need no flush. */
    void expect(@Nullable Flush device) {
        if (device != null && !Arrays.asList(devices).contains(device)) {
            Flush[] more = Arrays.copyOf(devices, devices.length + 1);
            more[devices.length] = device;
            devices = more;
        }
    }

    /**
     * Returns when all that has arrived is visible.
     *
     * @throws SluiceException if a device fails
     */
    void flush() {
        for (Flush device : devices) {
            device.flush();
        }
    }
}
