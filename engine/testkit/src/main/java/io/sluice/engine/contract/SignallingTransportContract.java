package io.sluice.engine.contract;

/**
 * The part of the suite in which it matters whether a write can carry a signal, for a variant of a transport that keeps
 * the whole of it.
 */
public abstract class SignallingTransportContract
        implements OrderContract,
                SignalContract,
                SignalWaitContract,
                SignalOrderContract,
                FlushAndQuietContract,
                PriorityContract,
                PreparedTransferContract,
                StartAndCompletionContract,
                UnknownOutcomeContract {}
