package io.sluice.experts;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.comm.nvshmem.NvshmemMemory;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.CudaStream;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/**
 * One rank of an expert buffer over each of several back ends, in a process of its own: the same tokens must bring the same
 * sums. Its arguments are the rank, the number of ranks, and a file for the address of rank 0. It ends with 1 if the sums
 * differ, with 2 after an error. Properties: {@code backends}, such as {@code sluice,nccl}; {@code rounds}.
 */
public final class BackendRanks {
    private static final int TOKENS = 128;
    private static final int HIDDEN = 2048;
    private static final int TOP_K = 8;
    private static final int EXPERTS_PER_RANK = 8;
    private static final int WARM_UP = 5;
    private static final int ROUNDS = Integer.getInteger("rounds", 50);

    private final TransferEngine engine;
    private final Team team;

    private BackendRanks(TransferEngine engine, Team team) {
        this.engine = engine;
        this.team = team;
    }

    private MemoryRegion region(long bytes) {
        return engine.allocate(bytes, RegionOptions.local());
    }

    private int experts() {
        return EXPERTS_PER_RANK * team.size();
    }

    /** Dispatches and combines the rank's tokens; returns a checksum of the sums. */
    private long run(String backend) {
        ExpertBuffer buffer = Patience.await(
                ExpertBuffer.create(
                        team,
                        ExpertOptions.experts(experts())
                                .hidden(HIDDEN)
                                .maxTokensPerRank(TOKENS)
                                .topK(TOP_K)
                                .normalMode(false)
                                .timeout(Patience.BOUND)
                                .backend(backend)),
                Patience.longBound());
        Random random = new Random(team.rank());
        long bytes = (long) TOKENS * HIDDEN * Short.BYTES;
        MemoryRegion x = region(bytes);
        MemoryRegion choices = region((long) TOKENS * TOP_K * Long.BYTES);
        MemoryRegion weights = region((long) TOKENS * TOP_K * Float.BYTES);
        MemoryRegion out = region(bytes);
        for (long i = 0; i < (long) TOKENS * HIDDEN; i++) {
            short value = (short) (Float.floatToRawIntBits((float) random.nextGaussian()) >> 16);
            x.segment().setAtIndex(ValueLayout.JAVA_SHORT, i, value);
        }
        for (int token = 0; token < TOKENS; token++) {
            int first = random.nextInt(experts());
            for (int k = 0; k < TOP_K; k++) {
                int slot = token * TOP_K + k;
                choices.segment().setAtIndex(ValueLayout.JAVA_LONG, slot, (first + k * 3L) % experts());
                weights.segment().setAtIndex(ValueLayout.JAVA_FLOAT, slot, random.nextFloat());
            }
        }
        int[] done = new int[1];
        long[] begun = new long[1];
        Patience.await(
                new RepeatedCalls(
                                buffer,
                                x,
                                choices,
                                weights,
                                out,
                                TOKENS,
                                DispatchOptions.defaults(),
                                CombineOptions.defaults(),
                                () -> {
                                    if (++done[0] == WARM_UP) {
                                        begun[0] = System.nanoTime();
                                    }
                                    return done[0] < WARM_UP + ROUNDS;
                                })
                        .start(),
                Patience.longBound());
        long micros = (System.nanoTime() - begun[0]) / 1000 / ROUNDS;
        CRC32C sums = new CRC32C();
        sums.update(out.segment().toArray(ValueLayout.JAVA_BYTE));
        System.out.printf(
                "rank %d over %s: dispatch and combine %d us, sums %08x%n",
                team.rank(), buffer.backend(), micros, sums.getValue());
        Patience.await(buffer.closeAsync(), Patience.longBound());
        List.of(x, choices, weights, out).forEach(MemoryRegion::close);
        return sums.getValue();
    }

    /** Stores into the other ranks' memory by this rank's GPU, where it has their addresses. */
    private void storeIntoPeers() {
        CommBackendProvider provider =
                ExpertBackends.of(ExpertOptions.experts(1).backend("nvshmem"));
        byte[] drawn = team.rank() == 0 ? provider.uniqueId() : new byte[128];
        byte[] first = Patience.await(TeamExchange.gather(team, drawn)).getFirst();
        CommBackend backend =
                Patience.await(provider.open(new CommSettings(team, first, true, 1)), Patience.longBound());
        NvshmemMemory memory = NvshmemMemory.of(backend);
        long device = CudaDevice.open(team.rank() % CudaDevice.count());
        long stream = CudaStream.open(device, 1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(4096, 4096);
            long pinned = CudaMemory.registerHost(device, host.address(), 4096);
            host.set(ValueLayout.JAVA_LONG, 0, 1000 + team.rank());
            for (int rank = 0; rank < team.size(); rank++) {
                if (memory.address(rank) == 0) {
                    throw new AssertionError("the GPU does not reach rank " + rank);
                }
                copy(arena, stream, memory.address(rank) + 8L * team.rank(), pinned, 8);
            }
            Patience.await(backend.barrier());
            copy(arena, stream, pinned, memory.address(team.rank()), 8L * team.size());
            for (int rank = 0; rank < team.size(); rank++) {
                if (host.getAtIndex(ValueLayout.JAVA_LONG, rank) != 1000 + rank) {
                    throw new AssertionError("rank " + rank + " has not stored here");
                }
            }
            CudaMemory.unregisterHost(device, host.address());
        }
        CudaStream.destroy(stream);
        CudaDevice.close(device);
        Patience.await(backend.barrier());
        Patience.await(backend.closeAsync(), Patience.longBound());
        System.out.printf("rank %d: all ranks' GPUs store into each other's memory%n", team.rank());
    }

    private static void copy(Arena arena, long stream, long to, long from, long bytes) {
        MemorySegment request = arena.allocate(CudaStream.REQUEST_BYTES, 8);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COPY);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, to);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, from);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        if (CudaStream.submit(request.address(), 1) != 1) {
            throw new AssertionError("a copy was refused");
        }
        Patience.until("the copy is done", () -> CudaStream.query(stream) == 0);
    }

    /** Runs it. */
    public static void main(String[] arguments) {
        int status = 2;
        try {
            status = run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), Path.of(arguments[2])) ? 0 : 1;
        } catch (IOException | InterruptedException | RuntimeException | AssertionError e) {
            for (Throwable each = e; each != null; each = each.getCause()) {
                System.out.println("rank " + arguments[0] + ": " + each);
            }
        }
        System.exit(status);
    }

    private static boolean run(int rank, int size, Path file) throws IOException, InterruptedException {
        TransferEngine engine = TransferEngine.open(
                EngineOptions.builder().transports(List.of("shm", "tcp")).build());
        if (rank == 0) {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.writeString(next, engine.address().toString());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
        while (!Files.exists(file)) {
            Thread.sleep(20);
        }
        EngineAddress first = EngineAddress.parse(Files.readString(file));
        CompletableFuture<Team> forming =
                Team.form(engine, TeamOptions.rank(rank).of(size).rendezvous(first));
        BackendRanks ranks = new BackendRanks(engine, Patience.await(forming, Patience.longBound()));
        long expected = 0;
        boolean isSame = true;
        for (String backend : System.getProperty("backends", "sluice,nccl").split(",")) {
            long sums = ranks.run(backend);
            isSame &= expected == 0 || sums == expected;
            expected = sums;
        }
        if (Long.getLong("sluice.nvshmem.gpu-bytes", 0) > 0) {
            ranks.storeIntoPeers();
        }
        System.out.println("rank " + rank + (isSame ? ": equal bits" : ": DIFFERENT BITS"));
        Patience.await(ranks.team.closeAsync());
        Patience.await(engine.closeAsync());
        return isSame;
    }
}
