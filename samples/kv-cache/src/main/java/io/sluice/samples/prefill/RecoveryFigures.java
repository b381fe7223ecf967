package io.sluice.samples.prefill;

/**
 * What came of connections that have ended too early.
 *
 * @param reconnects how often there was another one after that
 * @param requestsRepeated requests that were moved anew, each counted as often as that
 * @param pagesRepeated pages of theirs that had been written until then, with whatever outcome, over all layers
 */
public record RecoveryFigures(long reconnects, long requestsRepeated, long pagesRepeated) {}
