package io.sluice.samples.prefill;

import java.util.concurrent.atomic.LongAdder;

/**
 * What is counted over all sessions of one mover. Any thread.
 *
 * @param bytesMoved bytes acknowledged: of pages, and of the seal of each
 * @param pagesAbandoned pages, over all layers, that were handed over to be written by requests that did not end well
 */
record MoveCounters(LongAdder bytesMoved, LongAdder pagesAbandoned) {

    MoveCounters() {
        this(new LongAdder(), new LongAdder());
    }
}
