package io.sluice.engine.transport.device;

import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An endpoint with the faults that a test asks for by the name of its engine; without such a name it has none. */
final class UnreliableEndpoint extends DeviceEndpoint {
    /** The name of an engine whose device does not work, which shows only when it is to be used. */
    static final String WITHOUT_DEVICE = "without-device";

    /** The name of an engine whose device works at first, and breaks while the other paths are set up. */
    static final String WITH_A_BREAKING_DEVICE = "with-a-breaking-device";

    /** The name of an engine that cannot say what its device does once that has an endpoint. */
    static final String WITHOUT_CAPABILITIES = "without-capabilities";

    /** The name of an engine whose keys are long. */
    static final String WITH_LONG_KEYS = "with-long-keys";

    private static final int LONG_KEY_BYTES = 300;
    // of engines without capabilities: all endpoints, and those that are not closed
    private static final AtomicInteger FORGETFUL = new AtomicInteger();
    private static final AtomicInteger FORGOTTEN = new AtomicInteger();

    private final EndpointContext context;
    private boolean closed;

    UnreliableEndpoint(EndpointContext context) {
        super(context);
        this.context = context;
        if (is(WITHOUT_CAPABILITIES)) {
            FORGETFUL.incrementAndGet();
            FORGOTTEN.incrementAndGet();
        }
    }

    /** How many endpoints engines without capabilities have had. */
    static int forgetful() {
        return FORGETFUL.get();
    }

    /** Whether an engine without capabilities has an endpoint. */
    static boolean some() {
        return FORGOTTEN.get() > 0;
    }

    private boolean is(String name) {
        return name.equals(context.options().name());
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (is(WITHOUT_DEVICE)) {
            context.failed(new TransportUnavailableException("the device is asleep"));
            return;
        }
        super.begin(peerOffer);
        if (is(WITH_A_BREAKING_DEVICE)) {
            context.failed(new TransportUnavailableException("the device is broken"));
        }
    }

    @Override
    public byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        byte[] keys = super.keysOf(handle, region);
        return keys != null && is(WITH_LONG_KEYS) ? Arrays.copyOf(keys, LONG_KEY_BYTES) : keys;
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        boolean isLong = keys.remaining() == LONG_KEY_BYTES;
        return super.remoteKey(handle, descriptor, isLong ? keys.slice(keys.position(), Long.BYTES) : keys);
    }

    @Override
    public void close() {
        if (is(WITHOUT_CAPABILITIES) && !closed) {
            FORGOTTEN.decrementAndGet();
        }
        closed = true;
        super.close();
    }
}
