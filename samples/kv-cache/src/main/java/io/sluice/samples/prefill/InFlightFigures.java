package io.sluice.samples.prefill;

/**
 * What is in flight to the decode side.
 *
 * @param operations now
 * @param maxOperations most operations seen at once
 * @param maxBytes most bytes seen at once
 */
public record InFlightFigures(long operations, long maxOperations, long maxBytes) {

    /** The same, with the most of what was seen before. */
    InFlightFigures after(InFlightFigures before) {
        return new InFlightFigures(
                operations, Math.max(maxOperations, before.maxOperations), Math.max(maxBytes, before.maxBytes));
    }
}
