package io.sluice.cuda;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The transport for memory of GPUs on a host of its own: no peer is within its reach, so that another one carries the bytes. */
public final class DistantCudaTransportProvider implements TransportProvider {
    static final String NAME = "distantcuda";

    private static final AtomicReference<Runnable> AT_FREE = new AtomicReference<>(() -> {});

    /** For the service loader. */
    public DistantCudaTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public TransportStatus status() {
        return new TransportStatus(NAME, Driver.unavailable(), null);
    }

    @Override
    public long distanceTo(String adapter) {
        return new CudaTransportProvider().distanceTo(adapter);
    }

    @Override
    public Transport open(EngineOptions options) {
        return new Distant(new CudaTransport(CudaOptions.of(options)));
    }

    /** Evaluates a supplier before the next free of memory that such a provider has allocated. */
    static CompletableFuture<Long> atNextFree(LongSupplier looking) {
        CompletableFuture<Long> seen = new CompletableFuture<>();
        AT_FREE.set(() -> seen.complete(looking.getAsLong()));
        return seen;
    }

    private static AllocatedMemory watched(AllocatedMemory memory) {
        return new AllocatedMemory() {
            @Override
            public RegionMemory memory() {
                return memory.memory();
            }

            @Override
            public RegisteredMemory registration() {
                return memory.registration();
            }

            @Override
            public void close() {
                AT_FREE.getAndSet(() -> {}).run();
                memory.close();
            }
        };
    }

    private record Distant(CudaTransport cuda) implements Transport {
        @Override
        public Capabilities capabilities() {
            return cuda.capabilities();
        }

        @Override
        public MemorySupport memory() {
            return cuda.memory();
        }

        @Override
        public Set<MemoryKind> partial() {
            return cuda.partial();
        }

        @Override
        public String whyOutOfReach(String peer) {
            return "the peer runs on another host";
        }

        @Override
        public AllocatedMemory allocate(long bytes, RegionOptions options) {
            return watched(cuda.allocate(bytes, options));
        }

        @Override
        public @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
            return cuda.register(memory, access, domain);
        }

        @Override
        public TransportLoop openLoop(EventLoop loop) {
            return cuda.openLoop(loop);
        }

        @Override
        public void close() {
            cuda.close();
        }
    }
}
