package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A result of normal mode, and the dispatch that fills it. */
final class NormalRows implements NormalResult {
    private static final int FREE = 0;
    private static final int FILLING = 1;
    private static final int LIVE = 2;
    private static final int CLOSING = 3;

    final NormalDispatchCall dispatch = new NormalDispatchCall(this);
    private final Closing closing = new Closing();
    private final Consumer<NormalCall> submit;
    private final Runnable ended;
    private final AtomicInteger state = new AtomicInteger(FREE);
    private final int[] counts;
    private final int[] firstRows;
    private final int[] rowCounts;
    private @Nullable Segments segments;
    private @Nullable NormalHandle handle;
    private DispatchFormat format = DispatchFormat.BF16;
    private boolean hasChoices;
    private int rows;
    private int received;
    private int slot;

    /** The memory of a slot. */
    record Segments(
            MemorySegment tokens,
            MemorySegment codes,
            Optional<MemorySegment> scales,
            Optional<MemorySegment> packedScales,
            Optional<MemorySegment> choices,
            Optional<MemorySegment> weights,
            MemorySegment sources) {
        static Segments of(MemorySegment memory, NormalMemory at, int slot) {
            long capacity = at.capacity();
            long scales = capacity * at.scalesBytes();
            MemorySegment allScales = memory.asSlice(at.scalesAt(slot), scales);
            return new Segments(
                    memory.asSlice(at.rowsAt(slot), capacity * at.rowBytes()),
                    memory.asSlice(at.rowsAt(slot), capacity * at.hidden),
                    Optional.of(allScales),
                    Optional.of(allScales.asSlice(0, capacity * at.packedScalesBytes())),
                    Optional.of(memory.asSlice(at.choicesAt(slot), capacity * at.topK * Long.BYTES)),
                    Optional.of(memory.asSlice(at.weightsAt(slot), capacity * at.topK * Float.BYTES)),
                    memory.asSlice(at.sourcesAt(slot), capacity * Integer.BYTES));
        }
    }

    /** Tells the loop that the result is closed. */
    final class Closing extends NormalCall {
        int slot() {
            return slot;
        }

        @Override
        void end(@Nullable SluiceException error) {
            state.set(FREE);
        }
    }

    /**
     * Creates one that is free.
     *
     * @param submit hands the close of the result to the loop
     * @param ended called when the result does not count as live any more
     */
    NormalRows(NormalMemory at, Consumer<NormalCall> submit, Runnable ended) {
        this.submit = submit;
        this.ended = ended;
        this.counts = new int[at.localExperts];
        this.firstRows = new int[at.ranks];
        this.rowCounts = new int[at.ranks];
    }

    /** Takes it for a dispatch, if no other one has. */
    boolean take() {
        return state.compareAndSet(FREE, FILLING);
    }

    /** The dispatch has put all rows into a slot. */
    void filled(Segments memory, int inSlot, int rowCount) {
        NormalDispatchCall filling = dispatch;
        segments = memory;
        slot = inSlot;
        rows = rowCount;
        NormalHandle used = filling.handle();
        handle = used;
        received = used.received();
        for (int rank = 0; rank < rowCounts.length; rank++) {
            firstRows[rank] = used.firstRow(rank);
            rowCounts[rank] = used.rowCount(rank);
        }
        format = filling.format;
        hasChoices = !filling.again;
        int[] exact = used.expertCounts();
        for (int expert = 0; expert < counts.length; expert++) {
            counts[expert] = Math.ceilDiv(exact[expert], filling.alignment) * filling.alignment;
        }
        state.set(LIVE);
    }

    /** The dispatch has failed. */
    void failed() {
        state.set(FREE);
        ended.run();
    }

    @Override
    public DispatchFormat format() {
        return format;
    }

    @Override
    public int rows() {
        return rows;
    }

    @Override
    public int received() {
        return received;
    }

    private Segments live() {
        Segments memory = segments;
        if (memory == null || state.get() != LIVE) {
            throw new IllegalStateException("the result is closed");
        }
        return memory;
    }

    @Override
    public MemorySegment tokens() {
        return format.isQuantised() ? live().codes : live().tokens;
    }

    @Override
    public Optional<MemorySegment> scales() {
        return switch (format) {
            case BF16 -> Optional.empty();
            case FP8, FP8_ROUNDED -> live().scales;
            case FP8_UE8M0 -> live().packedScales;
        };
    }

    @Override
    public Optional<MemorySegment> choices() {
        return hasChoices ? live().choices : Optional.empty();
    }

    @Override
    public Optional<MemorySegment> weights() {
        return hasChoices ? live().weights : Optional.empty();
    }

    @Override
    public MemorySegment sources() {
        return live().sources;
    }

    @Override
    public int firstRow(int rank) {
        return firstRows[rank];
    }

    @Override
    public int rowsFrom(int rank) {
        return rowCounts[rank];
    }

    @Override
    public int count(int localExpert) {
        return counts[localExpert];
    }

    @Override
    public NormalHandle handle() {
        return Objects.requireNonNull(handle);
    }

    @Override
    public void close() {
        if (state.compareAndSet(LIVE, CLOSING)) {
            ended.run();
            submit.accept(closing);
        }
    }
}
