package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two engines with many connections between them, and traffic on all of them at once. */
@Tag("verbs")
@Tag("softroce")
@Tag("softroce-long")
class ManyConnectionsTest {
    private static final int CONNECTIONS = 64;
    private static final int BYTES = 8192;

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2"})
    void trafficOnSixtyFourConnections(int lanes, int pollers) {
        VerbsUnderTest transport = VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1));
        int rounds = TestDevices.rounds(20);
        try (TransferEngine initiator = TransferEngine.open(
                        transport.options().lanes(lanes).pollers(pollers).build());
                TransferEngine target = TransferEngine.open(
                        transport.targetOptions().lanes(lanes).pollers(pollers).build())) {
            MemoryRegion served = target.allocate((long) CONNECTIONS * BYTES, RegionOptions.readWrite());
            MemoryRegion words = target.allocate(64, RegionOptions.readWrite());
            MemoryRegion source = initiator.allocate((long) CONNECTIONS * BYTES, RegionOptions.local());
            MemoryRegion back = initiator.allocate((long) CONNECTIONS * BYTES, RegionOptions.local());
            for (long at = 0; at < source.length(); at += 8) {
                source.segment().set(ValueLayout.JAVA_LONG, at, at * 31 + 7);
            }
            List<Connection> connections = connect(initiator, target);
            List<TransferEnd> ends = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Connection connection = connections.get(i);
                RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
                RemoteRegion remoteWords = Patience.await(connection.attach(words.descriptor()));
                long at = (long) i * BYTES;
                for (int round = 0; round < rounds; round++) {
                    TransferEnd write = new TransferEnd();
                    TransferEnd add = new TransferEnd();
                    connection.writeWithSignal(
                            source,
                            at,
                            remote,
                            at,
                            BYTES,
                            new RemoteSignal(remoteWords, 8).weak(),
                            TransferOptions.defaults(),
                            write);
                    connection.fetchAdd(remoteWords, 16, 3, TransferOptions.defaults(), add);
                    ends.add(write);
                    ends.add(add);
                }
            }
            ends.forEach(TransferEnd::awaitSuccess);
            long signals = (long) CONNECTIONS * rounds;
            Patience.until("all signals are counted", () -> words.signal(8).value() >= signals);
            assertThat(words.signal(8).value()).isEqualTo(signals);
            assertThat(words.signal(16).value()).isEqualTo(3L * CONNECTIONS * rounds);
            ends.clear();
            for (int i = 0; i < CONNECTIONS; i++) {
                // a slot that another connection has written
                long at = (long) (CONNECTIONS - 1 - i) * BYTES;
                RemoteRegion remote = Patience.await(connections.get(i).attach(served.descriptor()));
                TransferEnd read = new TransferEnd();
                connections.get(i).read(back, at, remote, at, BYTES, TransferOptions.defaults(), read);
                ends.add(read);
            }
            ends.forEach(TransferEnd::awaitSuccess);
            assertThat(back.segment().mismatch(source.segment())).isEqualTo(-1);
            closeHalf(connections);
            TransferEnd last = new TransferEnd();
            Connection left = connections.get(1);
            left.write(
                    source,
                    0,
                    Patience.await(left.attach(served.descriptor())),
                    0,
                    BYTES,
                    TransferOptions.defaults(),
                    last);
            last.awaitSuccess();
        }
    }

    private static List<Connection> connect(TransferEngine initiator, TransferEngine target) {
        List<CompletableFuture<Connection>> connecting = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connecting.add(initiator.connect(target.address()));
        }
        return connecting.stream().map(Patience::await).toList();
    }

    /** Others go on. */
    private static void closeHalf(List<Connection> connections) {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (int i = 0; i < connections.size(); i += 2) {
            closing.add(connections.get(i).close());
        }
        closing.forEach(Patience::await);
    }
}
