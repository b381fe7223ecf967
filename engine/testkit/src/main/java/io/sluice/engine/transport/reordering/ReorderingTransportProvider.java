package io.sluice.engine.transport.reordering;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;

/** Opens the reordering transport; an engine takes it only by name. */
public class ReorderingTransportProvider implements TransportProvider {
    private final String name;
    private final boolean writeWithSignal;

    /** For the service loader. */
    public ReorderingTransportProvider() {
        this("reordering", true);
    }

    ReorderingTransportProvider(String name, boolean writeWithSignal) {
        this.name = name;
        this.writeWithSignal = writeWithSignal;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public Transport open(EngineOptions options) {
        return new ReorderingTransport(writeWithSignal);
    }

    /** The same transport, whose writes carry no signal, so that the engine must send each signal by itself. */
    public static final class WithoutSignals extends ReorderingTransportProvider {
        /** For the service loader. */
        public WithoutSignals() {
            super("reorderingplain", false);
        }
    }
}
