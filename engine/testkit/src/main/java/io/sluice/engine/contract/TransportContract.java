package io.sluice.engine.contract;

/**
 * The promises of every transport. A transport joins by a class of one method in its own package; the tests, and their
 * names, are the same for all:
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
public abstract class TransportContract extends DataPathContract
        implements ConnectingContract,
                AttachingContract,
                DeadlineContract,
                InFlightWindowContract,
                MutualWaitContract,
                DescriptorContract,
                SignalWaitContract,
                PriorityContract,
                PreparedTransferContract,
                BatchContract,
                StartAndCompletionContract,
                UnknownOutcomeContract,
                PollerContract,
                VolumeContract,
                MetricsContract,
                ObserverContract,
                ShutdownContract {}
