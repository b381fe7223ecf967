package io.sluice.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * A process that owns memory of GPUs. It prints its address and the descriptors of its regions, the first the engine's, the others of
 * one allocation of the user's; then obeys commands: {@code sum REGION}, {@code close REGION}, and {@code span}, which makes a region
 * of two allocations side by side and prints its descriptor.
 */
final class PeerMain {
    static final int BYTES = 4 << 20;
    static final int[] OFFSETS = {0, 64 << 10, (1 << 20) + 256, BYTES - 4096};
    static final int REGION_BYTES = 4096;

    private PeerMain() {}

    /** The initial contents of a region. */
    static byte[] pattern(int region, int bytes) {
        byte[] pattern = new byte[bytes];
        new Random(region).nextBytes(pattern);
        return pattern;
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftGpu.load();
        String gpu = SoftGpu.id(0);
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        RegionOptions options = RegionOptions.readWrite().on(MemoryKind.CUDA, gpu);
        List<MemoryRegion> regions = new ArrayList<>();
        regions.add(engine.allocate(BYTES, options));
        long user = SoftGpu.malloc(0, BYTES);
        for (int offset : OFFSETS) {
            regions.add(engine.register(
                    RegionMemory.device(MemoryKind.CUDA, gpu, user + offset, REGION_BYTES, () -> true), options));
        }
        StringBuilder ready = new StringBuilder("READY " + engine.address());
        for (int i = 0; i < regions.size(); i++) {
            MemoryRegion region = regions.get(i);
            SoftGpu.write(0, region.memory().address(), pattern(i, (int) region.length()));
            ready.append(' ')
                    .append(HexFormat.of().formatHex(region.descriptor().toBytes()));
        }
        System.out.println(ready);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("span")) {
                ChunkedMemory chunks = new ChunkedMemory(0, 2);
                chunks.map(0);
                chunks.map(1);
                long address = chunks.address(1) - BYTES / 4;
                SoftGpu.write(0, address, pattern(regions.size(), BYTES / 2));
                regions.add(engine.register(
                        RegionMemory.device(MemoryKind.CUDA, gpu, address, BYTES / 2, () -> true), options));
                System.out.println(
                        HexFormat.of().formatHex(regions.getLast().descriptor().toBytes()));
                continue;
            }
            MemoryRegion region = regions.get(Integer.parseInt(line.substring(line.indexOf(' ') + 1)));
            if (line.startsWith("close")) {
                region.close().join();
                System.out.println("CLOSED");
            } else {
                byte[] bytes = SoftGpu.read(0, region.memory().address(), (int) region.length());
                System.out.println("SUM " + Arrays.hashCode(bytes));
            }
        }
        engine.close();
    }
}
