package io.sluice.engine.contract;

/**
 * The parts of the contract that another form of the same bytes on the wire breaks first, with few of them: bytes arrive, are
 * checked, and fail by typed errors. For a variant of a transport that neither moves them another way nor in another order,
 * and whose connects take long. The whole contract runs in the long runs.
 */
public abstract class WireContract implements ChecksumContract, VectoredContract {}
