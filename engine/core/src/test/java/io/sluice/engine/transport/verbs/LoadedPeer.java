package io.sluice.engine.transport.verbs;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The program of a process that is killed. It prints {@code @address descriptor}, reads the descriptor of its peer's region,
 * sends transfers to it without end, and prints {@code @loaded} when they flow. It ends when its input does.
 */
final class LoadedPeer {
    static final char ANSWER = '@';

    private LoadedPeer() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (TransferEngine engine = TransferEngine.open(EngineOptions.fromEnvironment())) {
            CompletableFuture<Connection> accepted = new CompletableFuture<>();
            engine.onConnection(accepted::complete);
            MemoryRegion served = engine.allocate(EndlessTransfers.REGION_BYTES, RegionOptions.readWrite());
            MemoryRegion local = engine.allocate(EndlessTransfers.REGION_BYTES, RegionOptions.local());
            out.println(ANSWER + engine.address().toString() + " "
                    + HexFormat.of().formatHex(served.descriptor().toBytes()));
            RegionDescriptor peer = RegionDescriptor.fromBytes(HexFormat.of().parseHex(in.readLine()));
            Connection connection = Patience.await(accepted);
            take(connection);
            EndlessTransfers load = new EndlessTransfers(connection, local, Patience.await(connection.attach(peer)));
            load.awaitProgress(100);
            out.println(ANSWER + "loaded");
            while (in.readLine() != null) {
                continue;
            }
        }
    }

    /** Takes a connection's notifications, and forgets them. */
    static void take(Connection connection) {
        connection
                .subscribe(new NotificationListener() {
                    @Override
                    public void notification(byte[] payload) {}

                    @Override
                    public void ended(@Nullable SluiceException error) {}
                })
                .request(Long.MAX_VALUE);
    }
}
