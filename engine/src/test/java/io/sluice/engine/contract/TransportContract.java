package io.sluice.engine.contract;

/**
 * What every transport keeps. A transport joins by a class of one method in its own package; the tests, and their names,
 * are the same for all:
 *
 * <pre>{@code
 * class TcpContractTest extends TransportContract {
 *     @Override
 *     public TransportUnderTest transport() {
 *         return () -> "tcp";
 *     }
 * }
 * }</pre>
 *
 * <p>How much the tests do depends on the system property {@code sluice.test.profile}: {@code small}, {@code standard}
 * or {@code large}.
 */
public abstract class TransportContract
        implements ConnectingContract,
                AttachingContract,
                ReadAndWriteContract,
                TerminalSignalContract,
                DeadlineContract,
                CompletionContract,
                InFlightWindowContract,
                MutualWaitContract,
                QuiescenceContract,
                DescriptorContract,
                BoundsContract,
                OrderContract,
                SignalContract,
                SignalWaitContract,
                SignalOrderContract,
                AtomicContract,
                PutContract,
                FlushAndQuietContract,
                ChecksumContract,
                PriorityContract,
                PreparedTransferContract,
                BatchContract,
                StartAndCompletionContract,
                UnknownOutcomeContract,
                PollerContract,
                MemoryLifetimeContract,
                NotificationContract,
                VectoredContract,
                VolumeContract,
                MetricsContract,
                ObserverContract,
                ShutdownContract {}
