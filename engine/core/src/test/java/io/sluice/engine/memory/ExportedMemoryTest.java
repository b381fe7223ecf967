package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.DmaBufferMemory;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Memory that one transport exports to another: that one registers it later, and lets it go earlier. */
class ExportedMemoryTest {
    private static final String GPU = "GPU-1";
    private static final Set<MemoryKind> DEVICE = Set.of(MemoryKind.CUDA);

    private final List<String> steps = new ArrayList<>();

    private abstract class Recorded implements Transport {
        private final MemorySupport memory;

        Recorded(Set<MemoryKind> allocated) {
            memory = new MemorySupport(DEVICE, allocated, DEVICE, DEVICE);
        }

        @Override
        public Capabilities capabilities() {
            return new Capabilities(1 << 20, true);
        }

        @Override
        public MemorySupport memory() {
            return memory;
        }

        @Override
        public TransportLoop openLoop(EventLoop loop) {
            throw new UnsupportedOperationException();
        }
    }

    private final class OfDevice extends Recorded {
        OfDevice() {
            super(DEVICE);
        }

        @Override
        public RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
            steps.add("device registers");
            return new Exporting();
        }
    }

    private final class Exporting implements RegisteredMemory, DmaBufferMemory {
        @Override
        public Buffer export() {
            throw new RegistrationException("no adapter is here");
        }

        @Override
        public boolean isCurrent() {
            return true;
        }

        @Override
        public Flush flush() {
            return () -> {};
        }

        @Override
        public void close() {
            steps.add("device lets go");
        }
    }

    private final class OfAdapter extends Recorded {
        OfAdapter() {
            super(Set.of());
        }

        @Override
        public RegisteredMemory registerExported(
                RegionMemory memory, DmaBufferMemory exported, Set<Access> access, AtomicDomain domain) {
            assertThat(exported).isInstanceOf(Exporting.class);
            steps.add("adapter registers");
            return new RegisteredMemory() {
                @Override
                public void close() {
                    steps.add("adapter lets go");
                }
            };
        }
    }

    @Test
    void theAdapterComesLastAndGoesFirst() {
        for (boolean adapterFirst : new boolean[] {true, false}) {
            steps.clear();
            OpenTransport adapter = new OpenTransport("adapter", adapterFirst ? 0 : 1, new OfAdapter());
            OpenTransport device = new OpenTransport("device", adapterFirst ? 1 : 0, new OfDevice());
            RegionMemory memory = RegionMemory.device(MemoryKind.CUDA, GPU, 4096, 4096, () -> true);
            TransportRegistrations made = TransportRegistrations.make(
                    adapterFirst ? List.of(adapter, device) : List.of(device, adapter),
                    memory,
                    RegionOptions.readWrite().on(MemoryKind.CUDA, GPU),
                    null,
                    null);
            assertThat(made.isTakenBy(0) && made.isTakenBy(1)).isTrue();
            made.close();
            assertThat(steps)
                    .containsExactly("device registers", "adapter registers", "adapter lets go", "device lets go");
        }
    }
}
