package io.sluice.engine.contract;

/**
 * The parts of the contract that are about what memory holds and when it is the caller's again: what a variant with memory of
 * another kind breaks first. The whole contract runs in the long runs.
 */
public abstract class MemoryContract extends CopyContract implements MemoryLifetimeContract {}
