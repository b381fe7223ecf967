package io.sluice.collectives;

import io.sluice.collectives.plan.Blocks;
import io.sluice.collectives.plan.Shape;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The transport by which all ranks of a team reach each other. The ranks agree on it before they call anything else. */
final class CommonTransport {
    private static final String SLOWEST = "tcp";
    private static final int NAME_BYTES = 32;

    private CommonTransport() {}

    /**
     * Agrees with the other ranks.
     *
     * @param remotes the regions of the other ranks; null for this one
     * @return its name, or an empty one if there is none; the same on all ranks
     */
    static CompletableFuture<String> agree(
            CalledCollective.Parts parts,
            int rank,
            long chunkBytes,
            CollectiveOptions options,
            @Nullable RemoteRegion[] remotes) {
        int size = remotes.length;
        if (size == 1) {
            return CompletableFuture.completedFuture("");
        }
        MemoryRegion region = parts.work().take((size + 1L) * NAME_BYTES);
        write(region.segment(), common(transports(remotes)));
        Blocks blocks = Blocks.equal(size, NAME_BYTES);
        Call call = new Call(
                CollectiveKind.ALL_GATHER,
                Algorithm.BRUCK,
                AlgorithmPlans.allGather(Algorithm.BRUCK, new Shape(rank, size, chunkBytes, false, false), blocks),
                new Buffer(region, 0, NAME_BYTES),
                new Buffer(region, NAME_BYTES, blocks.total()),
                ElementType.INT8,
                null,
                0,
                NAME_BYTES);
        CompletableFuture<String> agreed = new CompletableFuture<>();
        CollectiveCallback callback = (called, error) -> {
            if (error == null) {
                agreed.complete(common(names(region.segment(), size)));
            } else {
                agreed.completeExceptionally(error);
            }
            parts.work().give(region);
        };
        // no call of the user's
        new CalledCollective(parts.uncounted(), call, options, callback, -1).run(callback);
        return agreed;
    }

    private static Set<String> transports(@Nullable RemoteRegion[] remotes) {
        Set<String> names = new TreeSet<>();
        for (RemoteRegion remote : remotes) {
            if (remote != null) {
                names.add(remote.path().transport());
            }
        }
        return names;
    }

    /** The one of several that counts for all. */
    private static String common(Set<String> names) {
        if (names.size() == 1) {
            return names.iterator().next();
        }
        return names.contains(SLOWEST) ? SLOWEST : "";
    }

    private static void write(MemorySegment memory, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        MemorySegment field = memory.asSlice(0, NAME_BYTES).fill((byte) 0);
        // with the zero that ends it; a longer name fits no rule
        if (bytes.length < NAME_BYTES) {
            field.setString(0, name);
        }
    }

    private static Set<String> names(MemorySegment memory, int size) {
        Set<String> names = new TreeSet<>();
        for (int rank = 0; rank < size; rank++) {
            names.add(memory.getString((rank + 1L) * NAME_BYTES));
        }
        return names;
    }
}
