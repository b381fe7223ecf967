package io.sluice.experts.cuda;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.NormalOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * The tokens that a dispatch in normal mode has brought to this rank: a row for each, ordered by the rank it comes from, and then by its
 * index there. With R ranks and M tokens a rank at most, regions have room for R · M rows, of which the first {@link #rows()} are in use.
 * They are slices of the buffer's window: once the {@linkplain GpuNormalDispatch#close dispatch is closed} a later one overwrites them.
 *
 * <p>Regions are for kernels behind the dispatch in its stream. The methods that return numbers are for the host, once the dispatch that was
 * started last is done; until then they throw {@link IllegalStateException}, and once the buffer has failed its error. Any thread.
 */
public final class GpuNormalResult {
    private final BufferCore core;
    private final NormalPlaces places;
    private final MemoryRegion window;
    private final MemorySegment summary;
    private final int slot;
    private final NormalOptions options;
    private final boolean hasChoices;
    private volatile long number;

    /**
     * Makes it.
     *
     * @param summary where the dispatch tells the host about it
     * @param hasChoices not with the handle of an earlier dispatch
     */
    GpuNormalResult(
            BufferCore core,
            NormalPlaces places,
            MemoryRegion window,
            MemorySegment summary,
            int slot,
            NormalOptions options,
            boolean hasChoices) {
        this.core = core;
        this.places = places;
        this.window = window;
        this.summary = summary;
        this.slot = slot;
        this.options = options;
        this.hasChoices = hasChoices;
    }

    int slot() {
        return slot;
    }

    void filledBy(long newNumber) {
        number = newNumber;
    }

    /**
     * Returns the format of the rows.
     *
     * @return as the dispatch was prepared
     */
    public DispatchFormat format() {
        return options.format();
    }

    /**
     * Returns the vectors.
     *
     * @return [R · M, H], two bytes an element, or one where it is quantised
     */
    public MemoryRegion tokens() {
        return window.slice(places.rowsAt(slot), places.rowsLength(format()));
    }

    /**
     * Returns the scales, row by row.
     *
     * @return [R · M, H/128] float32, or [R · M, H/512] int32 with {@link DispatchFormat#FP8_UE8M0}; empty for {@link DispatchFormat#BF16}
     */
    public Optional<MemoryRegion> scales() {
        return format().isQuantised()
                ? Optional.of(window.slice(places.scalesAt(slot), places.scalesLength(format())))
                : Optional.empty();
    }

    /**
     * Returns the choices of each row.
     *
     * @return [R · M, topK] int64: the number of an expert among those of this rank, or −1 for none and those of other ranks; empty for
     *     {@link GpuNormalMode#prepareDispatchAgain}
     */
    public Optional<MemoryRegion> choices() {
        return hasChoices
                ? Optional.of(window.slice(places.choicesAt(slot), places.choicesLength()))
                : Optional.empty();
    }

    /**
     * Returns the weights of each row.
     *
     * @return [R · M, topK] float32, 0 where there is no choice; empty for {@link GpuNormalMode#prepareDispatchAgain}
     */
    public Optional<MemoryRegion> weights() {
        return hasChoices
                ? Optional.of(window.slice(places.weightsAt(slot), places.weightsLength()))
                : Optional.empty();
    }

    /**
     * Returns which token each row is.
     *
     * @return [R · M] int32: the token's index on the rank from which it came
     */
    public MemoryRegion sources() {
        return window.slice(places.sourcesAt(slot), places.sourcesLength());
    }

    /**
     * Returns how many choices fall on each expert of this rank, for kernels.
     *
     * @return [experts of a rank] int32, as {@link #count}
     */
    public MemoryRegion counts() {
        return window.slice(places.countsAt(slot), places.countsLength());
    }

    // ---- for the host ----

    private int told(int index) {
        // a dispatch that has failed stores none: those of an earlier one are there
        core.ensureUsable();
        long last = number;
        if (last == 0 || core.stream().reached() < last) {
            throw new IllegalStateException("the dispatch has not been started, or is not done");
        }
        return summary.getAtIndex(ValueLayout.JAVA_INT, index);
    }

    /**
     * Returns how many rows have arrived. Rows after them, up to those of the {@linkplain NormalOptions#worstTokens worst case}, have
     * sources and choices of −1, weights of 0, and any vectors.
     *
     * @return 0 to {@link #rows()}
     */
    public int received() {
        return told(0);
    }

    /**
     * Returns the number of rows.
     *
     * @return as many as have arrived, or those of the worst case, which the host knows before
     */
    public int rows() {
        return options.worstTokens() > 0 ? options.worstTokens() : received();
    }

    /**
     * Returns the first row from a rank.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return 0 to {@link #received()}
     */
    public int firstRow(int rank) {
        return told(places.summaryFirstRow(rank));
    }

    /**
     * Returns how many rows are from a rank.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return 0 or more
     */
    public int rowsFrom(int rank) {
        return told(places.summaryRows(rank));
    }

    /**
     * Returns how many choices fall on an expert of this rank.
     *
     * @param localExpert 0 to the number of experts a rank minus 1
     * @return rounded up to the dispatch's {@linkplain NormalOptions#expertAlignment alignment}
     */
    public int count(int localExpert) {
        return told(places.summaryCount(localExpert));
    }
}
