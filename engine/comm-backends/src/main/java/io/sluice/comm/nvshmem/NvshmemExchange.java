package io.sluice.comm.nvshmem;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.sluice.comm.rounds.Exchange;
import io.sluice.comm.rounds.Gpu;
import io.sluice.comm.rounds.Pause;
import io.sluice.comm.rounds.Staging;
import io.sluice.experts.BackendUnavailableException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Puts into the other ranks' symmetric memory, each with a signal behind it. That they have come this rank sees by copies of
 * its words to the host: a stream that waited for a rank that is lost would never end, and other work of the GPU with it.
 */
final class NvshmemExchange implements Exchange {
    private static final int UUID_BYTES = 16;
    private static final int TERMS_BYTES = UUID_BYTES + 3 * Long.BYTES;
    private static final long LONGEST_END_NANOS = 2_000_000_000L;
    private static final long LONGEST_CLEAR_NANOS = 60_000_000_000L;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final NvshmemLibrary library;
    private final byte[] id;
    private final int rank;
    private final int ranks;
    private final long gpuBytes;
    private final Gpu gpu;
    private final Staging staging;
    private final long wordsAt;
    private final int[] awaited;
    private MemorySegment stream = MemorySegment.NULL;
    private NvshmemHeap heap = new NvshmemHeap(0, 0, 0);
    private long[] peers = {};
    private int awaitedOffset;
    private boolean looks;
    private boolean hasArrived;

    NvshmemExchange(NvshmemLibrary library, byte[] id, int rank, int ranks, long gpuBytes) {
        if (id.length != NvshmemLibrary.UNIQUE_ID_BYTES) {
            throw new BackendUnavailableException("a unique id of NVSHMEM has " + NvshmemLibrary.UNIQUE_ID_BYTES
                    + " bytes, and this one " + id.length + ": do all ranks choose the same back end?");
        }
        this.library = library;
        this.id = id;
        this.rank = rank;
        this.ranks = ranks;
        this.gpuBytes = gpuBytes;
        this.awaited = new int[ranks];
        this.wordsAt = Staging.bytes(ranks);
        library.take();
        try {
            this.gpu = Gpu.open(rank, wordsAt + (long) ranks * Long.BYTES);
        } catch (RuntimeException | Error e) {
            library.giveBack();
            throw e;
        }
        this.staging = new Staging(gpu);
    }

    /** The bytes that {@link #terms} has. */
    static int termsBytes() {
        return TERMS_BYTES;
    }

    private long world() {
        long world = ranks;
        ByteBuffer bytes = ByteBuffer.wrap(id);
        while (bytes.remaining() >= Long.BYTES) {
            world = (world ^ bytes.getLong()) * MIX;
        }
        return world;
    }

    @Override
    public byte[] terms() {
        return ByteBuffer.allocate(TERMS_BYTES)
                .put(gpu.uuid())
                .putLong(library.state().ordinal())
                .putLong(library.state() == NvshmemLibrary.State.OPEN ? library.world() * MIX + rank : 0)
                .putLong(gpuBytes)
                .array();
    }

    @Override
    public void check(List<byte[]> all) {
        Map<String, Integer> users = new HashMap<>();
        for (int other = 0; other < all.size(); other++) {
            ByteBuffer terms = ByteBuffer.wrap(all.get(other)).position(UUID_BYTES);
            NvshmemLibrary.State state = NvshmemLibrary.State.values()[(int) terms.getLong()];
            if (state == NvshmemLibrary.State.BROKEN) {
                throw new BackendUnavailableException("rank " + other + ": " + NvshmemLibrary.BROKEN_TEXT);
            }
            // which ranks NVSHMEM has been initialised for, and as which it knows this one
            long known = terms.getLong();
            if (state != library.state() || (known != 0 && known - other != library.world() * MIX)) {
                throw new BackendUnavailableException("the NVSHMEM of rank " + other + " or " + rank
                        + " was initialised for other ranks, which it keeps: a new process is needed");
            }
            if (terms.getLong() != gpuBytes) {
                throw new BackendUnavailableException(
                        "rank " + other + " asks for another amount of symmetric memory than " + "rank " + rank
                                + ": see " + NvshmemBackendProvider.GPU_BYTES_PROPERTY);
            }
            String gpuId = HexFormat.of().formatHex(all.get(other), 0, UUID_BYTES);
            Integer same = users.putIfAbsent(gpuId, other);
            if (same != null) {
                throw new BackendUnavailableException("ranks " + same + " and " + other
                        + " have the same GPU: choose one for each by " + Gpu.GPU_PROPERTY
                        + " or CUDA_VISIBLE_DEVICES");
            }
        }
    }

    @Override
    public void open(Check check) {
        gpu.makeCurrent();
        stream = gpu.stream();
        NvshmemHeap known = library.heap();
        if (known == null) {
            known = initialise(check);
        }
        heap = known;
        peers = new long[ranks];
        for (int other = 0; gpuBytes > 0 && other < ranks; other++) {
            peers[other] = library.pointer(heap.forKernels(), other);
        }
        check.run();
    }

    private NvshmemHeap initialise(Check check) {
        // a rank that has ended meanwhile would be waited for without end
        check.run();
        gpu.keepContext();
        library.opening(id);
        try {
            library.initialise(id, rank, ranks);
            NvshmemHeap made = new NvshmemHeap(library.allocate(NvshmemHeap.bytes(ranks, gpuBytes)), ranks, gpuBytes);
            gpu.clear(made.words(), NvshmemHeap.bytes(ranks, gpuBytes) - Staging.bytes(ranks));
            awaitIdle(check);
            library.barrier();
            library.opened(world(), made);
            return made;
        } catch (RuntimeException | Error e) {
            // before the next back end asks
            library.broken();
            throw e;
        }
    }

    private void awaitIdle(Check check) {
        long begun = System.nanoTime();
        Pause pause = new Pause();
        while (!gpu.isIdle()) {
            check.run();
            if (System.nanoTime() - begun > LONGEST_CLEAR_NANOS) {
                throw new BackendUnavailableException("the GPU does not clear NVSHMEM's memory");
            }
            pause.again();
        }
    }

    /** The memory for kernels. */
    NvshmemMemory memory() {
        return new NvshmemMemory(peers.clone(), heap.gpuBytes);
    }

    @Override
    public String description() {
        return "NVSHMEM" + library.versionText() + ", puts with signals";
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
        for (int other = 0; other < ranks; other++) {
            awaited[other] = receives[other];
            if (receives[other] > 0) {
                heap.received[other]++;
            }
            if (sends[other] > 0) {
                long from = heap.outgoing(other) + offset;
                gpu.copy(from, staging.outgoingAddress(other) + offset, sends[other]);
                library.putSignal(
                        heap.incoming(rank) + offset,
                        from,
                        sends[other],
                        heap.word(rank),
                        ++heap.sent[other],
                        other,
                        stream);
            }
        }
        awaitedOffset = offset;
        looks = false;
        hasArrived = false;
    }

    @Override
    public boolean isDone() {
        if (!hasArrived) {
            if (!looks) {
                gpu.copy(gpu.pinnedAddress() + wordsAt, heap.words(), (long) ranks * Long.BYTES);
                looks = true;
            }
            if (!gpu.isIdle()) {
                return false;
            }
            looks = false;
            if (!hasAll()) {
                return false;
            }
            hasArrived = true;
            for (int other = 0; other < ranks; other++) {
                if (awaited[other] > 0) {
                    gpu.copy(
                            staging.incomingAddress(other) + awaitedOffset,
                            heap.incoming(other) + awaitedOffset,
                            awaited[other]);
                }
            }
        }
        return gpu.isIdle();
    }

    private boolean hasAll() {
        for (int other = 0; other < ranks; other++) {
            long count = gpu.pinned().get(JAVA_LONG, wordsAt + (long) other * Long.BYTES);
            if (awaited[other] > 0 && count < heap.received[other]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close(boolean isFailed) {
        // one that was not touched can still be initialised
        if (isFailed && library.state() != NvshmemLibrary.State.NEW) {
            library.broken();
        }
        try {
            gpu.close(LONGEST_END_NANOS);
        } finally {
            library.giveBack();
        }
    }

    @Override
    public String consequence() {
        return " NVSHMEM can be neither aborted nor started again: a new process is needed.";
    }
}
