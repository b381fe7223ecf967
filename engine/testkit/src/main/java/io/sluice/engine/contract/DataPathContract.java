package io.sluice.engine.contract;

/**
 * The parts of the contract that are about bytes, their order and the ends of transfers: what another way of moving the same
 * bytes can break. A variant of a transport keeps what it changes of them in every run of the tests, as
 * {@link CopyContract}, {@link MemoryContract}, {@link VisibilityContract} or {@link WireContract}, and the whole contract in
 * the long ones.
 */
public abstract class DataPathContract
        implements ReadAndWriteContract,
                TerminalSignalContract,
                CompletionContract,
                QuiescenceContract,
                BoundsContract,
                OrderContract,
                SignalContract,
                SignalOrderContract,
                AtomicContract,
                PutContract,
                FlushAndQuietContract,
                ChecksumContract,
                MemoryLifetimeContract,
                NotificationContract,
                VectoredContract,
                PagesContract {}
