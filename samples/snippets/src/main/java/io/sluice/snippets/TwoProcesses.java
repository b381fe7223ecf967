package io.sluice.snippets;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.reactor.ReactiveTransferEngine;
import java.util.HexFormat;

/**
 * Two processes: one offers memory and prints what the other needs to reach it, which is an address and a descriptor. They
 * may cross by any way; here you copy them.
 *
 * <p>Run: {@code ./sluice snippet TwoProcesses receive}, then in another shell
 * {@code ./sluice snippet TwoProcesses send ADDRESS DESCRIPTOR} with what the first has printed
 */
public final class TwoProcesses {
    private static final int MESSAGE = 64;

    private TwoProcesses() {}

    public static void main(String[] arguments) {
        switch (arguments.length) {
            case 1 -> receive();
            case 3 -> send(EngineAddress.parse(arguments[1]), HexFormat.of().parseHex(arguments[2]));
            default -> System.err.println("TwoProcesses receive | TwoProcesses send ADDRESS DESCRIPTOR");
        }
    }

    private static void receive() {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open();
        MemoryRegion inbox = engine.allocate(MESSAGE + Long.BYTES, RegionOptions.readWrite());
        Signal arrived = inbox.signal(MESSAGE);
        System.out.println(engine.address() + " "
                + HexFormat.of().formatHex(inbox.descriptor().toBytes()));
        arrived.awaitAtLeast(1).join();
        System.out.println("received: " + inbox.segment().getString(0));
        engine.close().block();
    }

    private static void send(EngineAddress receiver, byte[] descriptor) {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open();
        MemoryRegion source = engine.allocate(MESSAGE, RegionOptions.local());
        source.segment()
                .setString(0, "hello from process " + ProcessHandle.current().pid());
        engine.connect(receiver)
                .flatMap(connection -> connection
                        .attach(RegionDescriptor.fromBytes(descriptor))
                        .flatMap(inbox ->
                                connection.writeWithSignal(source, inbox, 0, new RemoteSignal(inbox, MESSAGE).weak())))
                .block();
        engine.close().block();
    }
}
