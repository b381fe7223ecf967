package io.sluice.experts.cuda;

import io.sluice.engine.MemoryRegion;

/**
 * Where the tokens of a rank go in normal mode: each token once to each rank that has one of its experts. Its memory is filled by each
 * start, and belongs to it until it is closed. A dispatch that was started has taken over what it needs.
 */
public final class GpuNormalLayout extends GpuNormalCall {
    private final NormalPlaces places;
    private final OwnRegion memory;
    private final int tokens;
    private volatile boolean isStarted;

    GpuNormalLayout(CallOwner owner, Prepared prepared, NormalPlaces places, OwnRegion memory, int tokens) {
        super(owner, prepared, GpuExpertCounters.Counted.ofNoCall());
        this.places = places;
        this.memory = memory;
        this.tokens = tokens;
    }

    /**
     * Returns the number of tokens.
     *
     * @return 0 or more
     */
    public int tokens() {
        return tokens;
    }

    /**
     * Returns how many tokens go to each rank.
     *
     * @return [ranks] int32
     */
    public MemoryRegion tokensToRanks() {
        return memory.slice(places.toRanksAt(), (long) places.ranks * Integer.BYTES);
    }

    /**
     * Returns how many choices fall on each expert.
     *
     * @return [experts of all ranks] int32
     */
    public MemoryRegion tokensToExperts() {
        return memory.slice(places.toExpertsAt(), (long) places.ranks * places.experts * Integer.BYTES);
    }

    /**
     * Returns which tokens go to which ranks.
     *
     * @return [most tokens, ranks] int32, of which the first {@link #tokens()} are in use: the token's index among those that go to the
     *     rank, or −1 if it does not
     */
    public MemoryRegion positions() {
        return memory.slice(places.positionsAt(), places.positionsLength());
    }

    boolean isOf(CallOwner candidate) {
        return owner().equals(candidate);
    }

    OwnRegion memory() {
        return memory;
    }

    boolean isStarted() {
        return isStarted;
    }

    @Override
    void ensureStartable() {
        // needs nothing
    }

    @Override
    boolean isEnabledBy(GpuNormalCall earlier) {
        return false;
    }

    @Override
    void started(long number) {
        isStarted = true;
    }

    @Override
    void release() {
        owner().giveBack(memory);
    }
}
