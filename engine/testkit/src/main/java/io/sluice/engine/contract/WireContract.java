package io.sluice.engine.contract;

/**
 * The parts of the contract that another form of the same bytes on the wire can break, for a variant of a transport that
 * neither moves them another way nor in another order. The whole contract runs in the long runs.
 */
public abstract class WireContract
        implements ReadAndWriteContract,
                TerminalSignalContract,
                CompletionContract,
                BoundsContract,
                OrderContract,
                SignalContract,
                PutContract,
                ChecksumContract,
                NotificationContract,
                VectoredContract,
                PagesContract {}
