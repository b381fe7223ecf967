package io.sluice.engine.transport.shm;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The program of a peer that is killed: it reads a line with an address, a region's descriptor and a number, connects, writes
 * the number to the region, says what its own region's descriptor is, and then transfers without end.
 */
final class DyingPeer {
    /** A variable that says how long its larger transfers are, if not {@link #LARGE_BYTES}. */
    static final String LARGER_BYTES = "DYING_PEER_LARGER_BYTES";

    static final String CROSS_MEMORY = "SLUICE_SHM_CROSS_MEMORY_ATTACH";
    static final char ANSWER = '@';
    static final long BYTES = 4 << 20;
    static final long SMALL_BYTES = 512;
    static final long LARGE_BYTES = 1 << 20;

    private final MemoryRegion region;
    private final Connection connection;
    private final RemoteRegion target;

    private DyingPeer(MemoryRegion region, Connection connection, RemoteRegion target) {
        this.region = region;
        this.connection = connection;
        this.target = target;
    }

    public static void main(String[] arguments) throws IOException {
        TransferEngine engine = TransferEngine.open(EngineOptions.fromEnvironment());
        MemoryRegion region = region(engine, Boolean.parseBoolean(System.getenv(CROSS_MEMORY)));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = in.readLine();
        if (line == null) {
            System.exit(0);
        }
        String[] words = line.split(" ");
        Connection connection = Patience.await(engine.connect(EngineAddress.parse(words[0])));
        RemoteRegion target = Patience.await(
                connection.attach(RegionDescriptor.fromBytes(HexFormat.of().parseHex(words[1]))));
        DyingPeer peer = new DyingPeer(region, connection, target);
        peer.writeNumber(Long.parseLong(words[2]));
        System.out.println(ANSWER + HexFormat.of().formatHex(region.descriptor().toBytes()));
        peer.transferForEver(true, SMALL_BYTES);
        long larger = largerBytes(System.getenv(LARGER_BYTES));
        peer.transferForEver(true, larger);
        peer.transferForEver(false, larger);
        // it never outlives the test that started it
        in.readLine();
        System.exit(0);
    }

    /** A region that peers map, or one that they reach by cross-memory attach. */
    static MemoryRegion region(TransferEngine engine, boolean crossMemory) {
        return crossMemory
                ? engine.register(Arena.global().allocate(BYTES, Long.BYTES), RegionOptions.readWrite())
                : engine.allocate(BYTES, RegionOptions.readWrite());
    }

    private static long largerBytes(@Nullable String told) {
        return told == null ? LARGE_BYTES : Long.parseLong(told);
    }

    private void writeNumber(long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, number);
        connection.write(region, 0, target, 0, Long.BYTES, TransferOptions.defaults(), (transfer, error) -> {
            if (error != null) {
                throw error;
            }
        });
        Patience.await(connection.quiet());
    }

    private void transferForEver(boolean writes, long bytes) {
        // what begins at 0 is the number
        if (writes) {
            connection.write(region, bytes, target, bytes, bytes, TransferOptions.defaults(), (transfer, error) -> {
                if (error == null) {
                    transferForEver(true, bytes);
                }
            });
        } else {
            connection.read(region, bytes, target, bytes, bytes, TransferOptions.defaults(), (transfer, error) -> {
                if (error == null) {
                    transferForEver(false, bytes);
                }
            });
        }
    }
}
