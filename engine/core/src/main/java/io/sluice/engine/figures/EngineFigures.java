package io.sluice.engine.figures;

import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.bootstrap.Handshakes;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.memory.LockedMemoryLimit;
import io.sluice.engine.memory.RegionRegistry;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.providers.Transports;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The figures of an engine, added up on each read. */
public final class EngineFigures implements EngineMetrics {
    private static final int ID_DIGITS = 8;

    private final String name;
    private final EngineOptions options;
    private final EngineCounters counters;
    private final InFlightWindow window;
    private final Handshakes handshakes;
    private final RegionRegistry regions;
    private final Collection<? extends SessionFigures> sessions;
    private final List<TransportMetrics> transports;
    private final List<PollerMetrics> pollers;
    private final List<PortMetrics> ports;
    private final List<DeviceMetrics> devices;

    /**
     * Of an engine.
     *
     * @param counters what its connections count into
     * @param window that they share
     * @param sessions the open connections, now and later
     */
    public EngineFigures(
            EngineId id,
            EngineOptions options,
            Transports transports,
            List<Poller> pollers,
            EngineCounters counters,
            InFlightWindow window,
            Handshakes handshakes,
            RegionRegistry regions,
            Collection<? extends SessionFigures> sessions) {
        this.options = options;
        this.counters = counters;
        this.window = window;
        this.handshakes = handshakes;
        this.regions = regions;
        this.sessions = sessions;
        String given = options.name();
        this.name = given == null ? id.toString().substring(0, ID_DIGITS) : given;
        List<TransportMetrics> ofTransports = new ArrayList<>();
        List<PortMetrics> ofPorts = new ArrayList<>();
        for (OpenTransport transport : transports.all()) {
            List<FlowCounters> byPoller = pollers.stream()
                    .map(poller -> counters.flow(poller, transport))
                    .toList();
            ofTransports.add(new TransportFigures(transport, byPoller, counters, sessions));
            ofPorts.addAll(transport.transport().ports());
        }
        this.transports = List.copyOf(ofTransports);
        this.ports = List.copyOf(ofPorts);
        this.devices = transports.all().stream()
                .flatMap(transport -> transport.transport().devices().stream())
                .toList();
        this.pollers = pollers.stream()
                .<PollerMetrics>map(poller -> new PollerFigures(poller, counters.flows(poller)))
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
        return counters.peers().all();
    }

    @Override
    public List<PortMetrics> ports() {
        return ports;
    }

    @Override
    public List<DeviceMetrics> devices() {
        return devices;
    }

    @Override
    public InFlightWindow window() {
        return window;
    }

    @Override
    public int pending() {
        return sessions.stream().mapToInt(SessionFigures::pending).sum();
    }

    @Override
    public long pendingLimit() {
        return (long) options.maxPending() * sessions.size();
    }

    @Override
    public long pendingOverflows() {
        return counters.pendingOverflows();
    }

    @Override
    public long handshakesRefused(RefusalReason reason) {
        return handshakes.refusals(reason);
    }

    @Override
    public int halfOpen() {
        return handshakes.halfOpen();
    }

    @Override
    public int regions() {
        return regions.all().size();
    }

    @Override
    public long regionBytes() {
        return regions.all().stream().mapToLong(MemoryRegion::length).sum();
    }

    @Override
    public long lockedBytes() {
        return regions.lockedBytes();
    }

    @Override
    public long lockedBytesLimit() {
        return LockedMemoryLimit.bytes();
    }
}
