package io.sluice.engine.transport.shm;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The shm transport of one engine. Regions out of its reach use a second path over tcp. */
final class ShmTransport implements Transport {
    private static final long LARGEST_MESSAGE = 1L << 30;
    private static final Set<MemoryKind> HOST = Set.of(MemoryKind.HOST);
    private static final MemorySupport MEMORY = new MemorySupport(HOST, HOST, HOST, HOST);

    private final ShmOptions options;
    private final Capabilities capabilities;
    private final Host host;
    private final SharedFiles files;
    private final SecretSource secrets = new SecretSource();
    private final CrossMemoryProbe probe = new CrossMemoryProbe();

    ShmTransport(ShmOptions options) {
        this.options = options;
        this.capabilities = new Capabilities(LARGEST_MESSAGE, true, options.callerThreadBytes());
        String directory = options.directory();
        this.host = Host.here(directory);
        if (directory != null) {
            StaleSockets.removeFrom(directory);
        }
        this.files = new SharedFiles(options);
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public String reach() {
        return host.text();
    }

    @Override
    public @Nullable String whyOutOfReach(String peer) {
        return host.whyOutOfReach(Host.read(peer));
    }

    @Override
    public MemorySupport memory() {
        return MEMORY;
    }

    @Override
    public Set<MemoryKind> partial() {
        return HOST;
    }

    @Override
    public String complement() {
        return "tcp";
    }

    @Override
    public @Nullable AllocatedMemory allocate(long bytes, RegionOptions region) {
        // memory that no peer may reach needs no file
        return region.access().isEmpty() ? null : files.allocate(bytes, region.access());
    }

    @Override
    public @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        return options.crossMemoryAttach() && !access.isEmpty() ? new ForeignMemory(memory.address()) : null;
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        return context -> new ShmEndpoint(context, options, host, secrets, probe);
    }

    @Override
    public void close() {
        probe.close();
    }
}
