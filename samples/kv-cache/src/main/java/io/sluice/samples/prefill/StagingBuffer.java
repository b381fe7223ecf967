package io.sluice.samples.prefill;

/**
 * A part of the staging area: room for some pages of one layer, and behind them their seals.
 *
 * @param pagesAt where the pages start, in bytes from the start of the area
 * @param sealsAt where the seals start
 */
record StagingBuffer(long pagesAt, long sealsAt) {}
