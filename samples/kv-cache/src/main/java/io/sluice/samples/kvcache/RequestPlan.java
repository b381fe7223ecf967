package io.sluice.samples.kvcache;

import java.util.List;

/**
 * What an admitted request must move and what it reuses. Its pages belong to it until it is handed back to the cache
 * that made it, by {@link PrefixCache#release} or {@link PrefixCache#abandon}.
 */
public final class RequestPlan {

    enum State {
        RECEIVING,
        COMPLETE,
        ENDED
    }

    private final List<PlannedBlock> blocks;
    private final int wholePages;
    private final int pagesToMove;
    private final int layers;
    private State state = State.RECEIVING;

    RequestPlan(List<PlannedBlock> blocks, int wholePages, int pagesToMove, int layers) {
        this.blocks = blocks;
        this.wholePages = wholePages;
        this.pagesToMove = pagesToMove;
        this.layers = layers;
    }

    /** The blocks that have at least one whole page, in the order of the request. */
    public List<PlannedBlock> blocks() {
        return blocks;
    }

    /** Whole pages of the request in one layer. */
    public int wholePages() {
        return wholePages;
    }

    /** Pages that must be moved in each layer: a page id counts once. */
    public int pagesToMovePerLayer() {
        return pagesToMove;
    }

    /** Pages that must be moved, over all layers. With {@link #pagesReused()} it makes up whole pages × layers. */
    public long pagesMoved() {
        return (long) pagesToMove * layers;
    }

    /** Pages that need not be moved, over all layers. */
    public long pagesReused() {
        return (long) (wholePages - pagesToMove) * layers;
    }

    State state() {
        return state;
    }

    void state(State next) {
        state = next;
    }
}
