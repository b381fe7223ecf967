package io.sluice.comm.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.sluice.comm.rounds.Exchange;
import io.sluice.comm.rounds.Gpu;
import io.sluice.comm.rounds.Pause;
import io.sluice.comm.rounds.Staging;
import io.sluice.engine.SluiceException;
import io.sluice.experts.BackendUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Sends and receives in one group. Messages lie in pinned memory of the host, which NCCL's kernels reach. Nothing but the end
 * waits for the library: its communicator does not block, and is aborted if it has to.
 */
class NcclExchange implements Exchange {
    private static final int UUID_BYTES = 16;
    private static final long LONGEST_OPEN_NANOS = 120_000_000_000L;
    private static final long LONGEST_END_NANOS = 5_000_000_000L;

    final NcclLibrary library;
    final Gpu gpu;
    final Staging staging;
    final int ranks;
    final Arena arena;
    MemorySegment communicator = MemorySegment.NULL;
    MemorySegment stream = MemorySegment.NULL;

    private final byte[] id;
    private final int rank;
    private final MemorySegment result;
    private final MemorySegment created;
    private boolean isLaunched;

    NcclExchange(NcclLibrary library, byte[] id, int rank, int ranks) {
        if (id.length != NcclLibrary.UNIQUE_ID_BYTES) {
            throw new BackendUnavailableException("a unique id of NCCL has " + NcclLibrary.UNIQUE_ID_BYTES
                    + " bytes, and this one " + id.length + ": do all ranks choose the same back end?");
        }
        this.library = library;
        this.id = id;
        this.rank = rank;
        this.ranks = ranks;
        this.gpu = Gpu.open(rank, Staging.bytes(ranks));
        this.staging = new Staging(gpu);
        this.arena = Arena.ofShared();
        this.result = arena.allocate(JAVA_INT);
        this.created = arena.allocate(ADDRESS);
    }

    /** The bytes that {@link #terms} has. */
    static int termsBytes() {
        return 1 + UUID_BYTES;
    }

    @Override
    public byte[] terms() {
        byte[] terms = Arrays.copyOf(gpu.uuid(), termsBytes());
        terms[UUID_BYTES] = (byte) (library.hasWindows() ? 1 : 0);
        return terms;
    }

    @Override
    public void check(List<byte[]> all) {
        Map<String, Integer> users = new HashMap<>();
        for (int other = 0; other < all.size(); other++) {
            if (all.get(other)[UUID_BYTES] != all.get(rank)[UUID_BYTES]) {
                throw new BackendUnavailableException("rank " + other + " has another NCCL than rank " + rank
                        + ": one of them has windows, the other has none");
            }
            String gpuId = HexFormat.of().formatHex(all.get(other), 0, UUID_BYTES);
            Integer same = users.putIfAbsent(gpuId, other);
            if (same != null) {
                throw new BackendUnavailableException("ranks " + same + " and " + other
                        + " have the same GPU, which NCCL refuses: choose one for each by " + Gpu.GPU_PROPERTY
                        + " or CUDA_VISIBLE_DEVICES");
            }
        }
    }

    @Override
    public void open(Check check) {
        gpu.makeCurrent();
        stream = gpu.stream();
        library.initialise(arena, created, id, rank, ranks);
        communicator = created.get(ADDRESS, 0);
        awaitReady("the communicator", check);
    }

    /** Waits until a call has ended that goes on in the background. */
    void awaitReady(String what, Check check) {
        long begun = System.nanoTime();
        Pause pause = new Pause();
        while (!library.isReady(communicator, result)) {
            check.run();
            if (System.nanoTime() - begun > LONGEST_OPEN_NANOS) {
                throw new SluiceException(what + " of NCCL did not come about within "
                        + LONGEST_OPEN_NANOS / 1_000_000_000 + " s: can the ranks reach each other?");
            }
            pause.again();
        }
    }

    @Override
    public String description() {
        return "NCCL " + library.versionText() + ", grouped send and receive"
                + (library.hasWindows() ? "" : ", as it has no windows to put into");
    }

    @Override
    public int areaBytes() {
        return Staging.AREA_BYTES;
    }

    @Override
    public MemorySegment outgoing(int other) {
        return staging.outgoing(other);
    }

    @Override
    public MemorySegment incoming(int other) {
        return staging.incoming(other);
    }

    @Override
    public void start(int offset, int[] sends, int[] receives) {
        library.startGroup();
        try {
            for (int other = 0; other < ranks; other++) {
                if (sends[other] > 0) {
                    long from = staging.outgoingAddress(other) + offset;
                    library.send(from, sends[other], other, communicator, stream);
                }
                if (receives[other] > 0) {
                    long to = staging.incomingAddress(other) + offset;
                    library.receive(to, receives[other], other, communicator, stream);
                }
            }
        } finally {
            // else the next group of this thread would be within this one
            library.endGroup(communicator);
        }
        restart();
    }

    @Override
    public boolean isDone() {
        boolean isReady = library.isReady(communicator, result);
        if (!isLaunched) {
            isLaunched = isReady;
            if (isReady) {
                launched();
            }
        }
        return isLaunched && gpu.isIdle();
    }

    /** Another group was given to the library. */
    final void restart() {
        isLaunched = false;
    }

    /** The group is on the stream. */
    void launched() {}

    @Override
    public void close(boolean isFailed) {
        // orderly too: an end that waits for the other ranks would make this one wait for theirs
        boolean isUnused = false;
        try {
            boolean isGone = communicator.equals(MemorySegment.NULL) || library.abort(communicator);
            communicator = MemorySegment.NULL;
            // copies of this exchange's own are no work of the library's
            isUnused = gpu.awaitIdle(LONGEST_END_NANOS) && isGone;
            if (isUnused) {
                release();
            }
        } finally {
            gpu.close(0);
            // else the library may still write to it
            if (isUnused) {
                arena.close();
            }
        }
    }

    /** Gives back memory of the GPU, which nothing uses any more. */
    void release() {}

    @Override
    public String consequence() {
        return " Its communicator is aborted: close the buffer and create another one.";
    }
}
