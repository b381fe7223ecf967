package io.sluice.engine.contract;

/** The parts of {@link CopyContract} for a path that copies, and leaves words to others. */
public abstract class BulkCopyContract implements ReadAndWriteContract, QuiescenceContract {}
