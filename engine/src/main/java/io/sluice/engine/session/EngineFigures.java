package io.sluice.engine.session;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.progress.Poller;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The figures of an engine, added up when somebody asks. */
final class EngineFigures implements EngineMetrics {
    private static final int ID_DIGITS = 8;

    private final LocalEngine engine;
    private final String name;
    private final List<TransportMetrics> transports;
    private final List<PollerMetrics> pollers;
    private final List<PortMetrics> ports;

    /**
     * Of an engine.
     *
     * @param counters what the connections count into, by poller and transport
     */
    EngineFigures(LocalEngine engine, List<Poller> pollers, FlowCounters[][] counters) {
        this.engine = engine;
        String given = engine.options().name();
        this.name = given == null ? engine.id().toString().substring(0, ID_DIGITS) : given;
        List<TransportMetrics> ofTransports = new ArrayList<>();
        List<PortMetrics> ofPorts = new ArrayList<>();
        for (OpenTransport transport : engine.transports().all()) {
            List<FlowCounters> byPoller = Arrays.stream(counters)
                    .map(ofPoller -> ofPoller[transport.index()])
                    .toList();
            ofTransports.add(new TransportFigures(engine, transport, byPoller));
            ofPorts.addAll(transport.transport().ports());
        }
        this.transports = List.copyOf(ofTransports);
        this.ports = List.copyOf(ofPorts);
        this.pollers = pollers.stream()
                .<PollerMetrics>map(poller -> new PollerFigures(poller, counters[poller.index()]))
                .toList();
    }

    @Override
    public String engine() {
        return name;
    }

    @Override
    public List<TransportMetrics> transports() {
        return transports;
    }

    @Override
    public List<PollerMetrics> pollers() {
        return pollers;
    }

    @Override
    public List<PeerMetrics> peers() {
        return engine.peers().all();
    }

    @Override
    public List<PortMetrics> ports() {
        return ports;
    }

    @Override
    public InFlightWindow window() {
        return engine.engineWindow();
    }

    @Override
    public int pending() {
        return engine.openSessions().stream().mapToInt(PeerSession::pending).sum();
    }

    @Override
    public long pendingLimit() {
        return (long) engine.options().maxPending() * engine.openSessions().size();
    }

    @Override
    public long pendingOverflows() {
        return engine.pendingOverflows().sum();
    }

    @Override
    public long handshakesRefused(RefusalReason reason) {
        return engine.handshakes().refusals(reason);
    }

    @Override
    public int halfOpen() {
        return engine.handshakes().halfOpen();
    }

    @Override
    public int regions() {
        return engine.regions().size();
    }

    @Override
    public long regionBytes() {
        return engine.regions().stream().mapToLong(MemoryRegion::length).sum();
    }

    @Override
    public long lockedBytes() {
        return engine.lockedBytes();
    }

    @Override
    public long lockedBytesLimit() {
        return LockedMemoryLimit.bytes();
    }
}
