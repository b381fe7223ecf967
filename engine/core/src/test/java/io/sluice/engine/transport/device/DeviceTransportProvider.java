package io.sluice.engine.transport.device;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.Memory;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A transport for memory of a device that there is not: ordinary memory that is presented as a device's, so that the transport alone
 * touches it. It copies between that memory and the host's, of this and another engine of the process. An engine prefers any other.
 */
public final class DeviceTransportProvider implements TransportProvider {
    static final String NAME = "device";

    /** How long memory of the host is that the device does not take. */
    static final long REFUSED_BYTES = 4099;

    private static final Set<MemoryKind> BOTH = Set.of(MemoryKind.HOST, MemoryKind.CUDA);

    /** For the service loader. */
    public DeviceTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public Transport open(EngineOptions options) {
        return new DeviceTransport(UnreliableEndpoint.WITHOUT_CAPABILITIES.equals(options.name()));
    }

    private static final class DeviceTransport implements Transport {
        private static final Capabilities CAPABILITIES = new Capabilities(1L << 30, false);
        private static final MemorySupport MEMORY = new MemorySupport(BOTH, Set.of(MemoryKind.CUDA), BOTH, BOTH);

        private final boolean forgetful;

        DeviceTransport(boolean forgetful) {
            this.forgetful = forgetful;
        }

        @Override
        public Capabilities capabilities() {
            if (forgetful && UnreliableEndpoint.some()) {
                throw new OutOfMemoryError("as the test wants it");
            }
            return CAPABILITIES;
        }

        @Override
        public MemorySupport memory() {
            return MEMORY;
        }

        @Override
        public AllocatedMemory allocate(long bytes, RegionOptions region) {
            return new Mapped(bytes, Objects.requireNonNull(region.device()));
        }

        @Override
        public @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
            if (memory.length() == REFUSED_BYTES) {
                throw new RegistrationException("the device takes no memory of an unlucky length");
            }
            return memory.isHost() ? null : new WatchedRegistration(memory);
        }

        @Override
        public TransportLoop openLoop(EventLoop loop) {
            return UnreliableEndpoint::new;
        }
    }

    private static final class Mapped implements AllocatedMemory {
        private final MappedSegment mapped;
        private final RegionMemory memory;

        Mapped(long bytes, String device) {
            long address = Memory.map(bytes, false);
            if (address < 0) {
                throw new RegistrationException("the device has no " + bytes + " bytes");
            }
            mapped = new MappedSegment(address, bytes, Memory::unmap);
            memory = RegionMemory.device(
                    MemoryKind.CUDA, device, address, bytes, mapped.segment().scope()::isAlive);
            DeviceMemory.made(mapped.segment());
        }

        @Override
        public RegionMemory memory() {
            return memory;
        }

        @Override
        public RegisteredMemory registration() {
            return new WatchedRegistration(memory);
        }

        @Override
        public void close() {
            DeviceMemory.freed(mapped.segment());
            mapped.close();
        }
    }
}
