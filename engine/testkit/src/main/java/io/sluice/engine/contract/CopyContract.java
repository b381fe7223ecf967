package io.sluice.engine.contract;

/**
 * The parts of the contract that another way of copying the same bytes breaks first: a variant keeps them in every run of the
 * tests if {@link DataPathContract} takes long.
 */
public abstract class CopyContract implements ReadAndWriteContract, PutContract, QuiescenceContract {}
