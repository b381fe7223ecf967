package io.sluice.engine.transport.verbs;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The program of a process that is short of something: it asks for more than there is, and prints the errors, one
 * outcome a line, each after {@code @}. Arguments: the scarce resource, and two devices.
 */
final class ScarceResources {
    static final char OUTCOME = '@';

    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final TransferEngine one;
    private final TransferEngine other;

    private ScarceResources(TransferEngine one, TransferEngine other) {
        this.one = one;
        this.other = other;
    }

    public static void main(String[] arguments) {
        try (TransferEngine one = TransferEngine.open(options(arguments[1]));
                TransferEngine other = TransferEngine.open(options(arguments[2]))) {
            ScarceResources program = new ScarceResources(one, other);
            if (arguments[0].equals("memory")) {
                program.lackMemory();
            } else {
                program.lackQueuePairs();
            }
        }
    }

    private static EngineOptions options(String device) {
        return PatientOptions.builder()
                .environment(
                        VerbsUnderTest.patient(Map.of("SLUICE_TRANSPORTS", "verbs", "SLUICE_VERBS_DEVICES", device)))
                .build();
    }

    private void tell(String outcome) {
        out.println(OUTCOME + outcome.replaceAll("\\R", " "));
    }

    private void tell(SluiceException error) {
        tell(error.getClass().getSimpleName() + ": " + error.getMessage());
    }

    private void lackMemory() {
        try {
            one.allocate(64 << 20, RegionOptions.readWrite());
            tell("registered");
        } catch (SluiceException e) {
            tell(e);
        }
        // what there is can be used
        MemoryRegion small = one.allocate(8192, RegionOptions.readWrite());
        tell("registered " + small.length() + " of " + one.metrics().regionBytes());
        Patience.await(small.close());
        tell(connect());
    }

    private String connect() {
        try {
            Patience.await(one.connect(other.address()));
            return "connected";
        } catch (SluiceException e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    /** Connects until there is no queue pair left; those that are connected work. */
    private void lackQueuePairs() {
        List<Connection> connections = new ArrayList<>();
        List<MemoryRegion> served = List.of(other.allocate(64, RegionOptions.readWrite()));
        MemoryRegion local = one.allocate(64, RegionOptions.local());
        for (int i = 0; i < 1000; i++) {
            try {
                connections.add(Patience.await(one.connect(other.address())));
            } catch (SluiceException e) {
                tell(e);
                break;
            }
        }
        tell("connections " + connections.size());
        for (Connection each : connections) {
            TransferEnd end = new TransferEnd();
            each.write(
                    local,
                    0,
                    Patience.await(each.attach(served.getFirst().descriptor())),
                    0,
                    64,
                    TransferOptions.defaults(),
                    end);
            end.awaitSuccess();
        }
        CompletableFuture<Void> closed = connections.removeFirst().close();
        Patience.await(closed);
        Patience.until(
                "the peer has closed it as well",
                () -> EngineSums.ofTransports(other, TransportMetrics::connections) == connections.size());
        tell(connect());
    }
}
