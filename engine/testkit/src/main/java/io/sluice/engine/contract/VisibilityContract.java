package io.sluice.engine.contract;

/**
 * The parts of the contract that are about what the target sees, and when: what a transport can break with memory that others
 * of its tests do not have. Short; the whole contract is for the long runs.
 */
public abstract class VisibilityContract
        implements OrderContract, SignalOrderContract, PutContract, FlushAndQuietContract, NotificationContract {}
