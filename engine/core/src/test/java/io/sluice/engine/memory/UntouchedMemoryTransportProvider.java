package io.sluice.engine.memory;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.engine.transport.tcp.TcpTransportProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Opens the tcp transport with memory of a device that there is not: it can be allocated and attached, and never touched, as
 * nothing is at its addresses. An engine prefers any other.
 */
public final class UntouchedMemoryTransportProvider implements TransportProvider {
    static final String NAME = "untouched";
    /** The page of the null pointer: an access ends the process. */
    static final long ADDRESS = 8;
    /** A device whose memory cannot be given back. */
    static final String STUCK = "GPU-8c7a1d2e-0000-0000-0000-00000000dead";

    /** A device whose memory is given back once {@link #letGo} was called. */
    static final String HELD_UP = "GPU-8c7a1d2e-0000-0000-0000-00000000be1d";

    private static final Semaphore LET_GO = new Semaphore(0);
    private static final AtomicInteger GIVEN_BACK = new AtomicInteger();
    private static final Set<MemoryKind> ANY = Set.of(MemoryKind.HOST, MemoryKind.CUDA);
    private static final MemorySupport MEMORY =
            new MemorySupport(ANY, Set.of(MemoryKind.CUDA), Set.of(MemoryKind.HOST), Set.of());

    private final TransportProvider tcp = new TcpTransportProvider();

    /** For the service loader. */
    public UntouchedMemoryTransportProvider() {}

    /** Gives so many pieces of memory back that are held up. */
    static void letGo(int count) {
        LET_GO.release(count);
    }

    /** How much memory has been given back that was held up. */
    static int givenBack() {
        return GIVEN_BACK.get();
    }

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
        Transport opened = tcp.open(options);
        return new Transport() {
            @Override
            public Capabilities capabilities() {
                return opened.capabilities();
            }

            @Override
            public MemorySupport memory() {
                return MEMORY;
            }

            @Override
            public AllocatedMemory allocate(long bytes, RegionOptions region) {
                return new Untouched(bytes, Objects.requireNonNull(region.device()));
            }

            @Override
            public TransportLoop openLoop(EventLoop loop) {
                return opened.openLoop(loop);
            }

            @Override
            public void close() {
                opened.close();
            }
        };
    }

    private static final class Untouched implements AllocatedMemory, RegisteredMemory {
        private final AtomicBoolean alive = new AtomicBoolean(true);
        private final RegionMemory memory;

        Untouched(long bytes, String device) {
            memory = RegionMemory.device(MemoryKind.CUDA, device, ADDRESS, bytes, alive::get);
        }

        @Override
        public RegionMemory memory() {
            return memory;
        }

        @Override
        public RegisteredMemory registration() {
            return this;
        }

        @Override
        public boolean waitsForDevice() {
            return HELD_UP.equals(memory.device());
        }

        @Override
        public void close() {
            if (alive.getAndSet(false) && waitsForDevice()) {
                LET_GO.acquireUninterruptibly();
                GIVEN_BACK.incrementAndGet();
            }
            if (STUCK.equals(memory.device())) {
                throw new IllegalStateException("as the test wants it");
            }
        }
    }
}
