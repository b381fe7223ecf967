package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An adapter reports what it has done only after its queue pair broke: a lane is not fenced before that. */
@Tag("verbs")
class LateAnswersTest {
    private static final int ROUNDS = 5;
    private static final int WORD = 8;
    private static final int BYTES = 64;
    // far less than a lane waits for
    private static final long HELD_NANOS = 20_000_000;

    private final SoftAdapter adapter = SoftAdapter.get();

    @AfterEach
    void answerAtOnce() {
        adapter.holdAnswers(TestDevices.get(0), 0);
    }

    /** Fenced earlier, its outcome would be unknown. */
    @Test
    void anAtomicOperationThatWasCarriedOutSucceeds() {
        int before = adapter.mark();
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(1))) {
            MemoryRegion region =
                    pair.target().allocate(BYTES, RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER));
            MemoryRegion source = pair.local(BYTES);
            RemoteRegion remote = pair.attach(region);
            for (long round = 1; round <= ROUNDS; round++) {
                adapter.holdAnswers(TestDevices.get(0), HELD_NANOS);
                TransferEnd end = new TransferEnd();
                pair.connection().fetchAdd(remote, WORD, 1, TransferOptions.defaults(), end);
                long carriedOut = round;
                Patience.until("it is carried out", () -> region.signal(WORD).value() >= carriedOut);
                adapter.breakAll(before);
                end.awaitSuccess();
                adapter.holdAnswers(TestDevices.get(0), 0);
                pair.write(source, 0, remote, 0, WORD).awaitSuccess();
                assertThat(region.signal(WORD).value()).isEqualTo(round);
            }
        }
    }

    /** The target's side breaks at once, and says so; which request broke it only the adapter knows. */
    @Test
    void aRefusedTransferIsTheOneThatFails() {
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(1))) {
            MemoryRegion source = pair.local(BYTES);
            RemoteRegion remote = pair.attach(pair.served(BYTES));
            RemoteRegion forged = ForgedKeys.withBadKey(remote);
            for (int round = 0; round < ROUNDS; round++) {
                adapter.holdAnswers(TestDevices.get(0), HELD_NANOS);
                TransferEnd refused = pair.write(source, 0, forged, 0, BYTES);
                refused.awaitFailure(RemoteAccessException.class);
                adapter.holdAnswers(TestDevices.get(0), 0);
                pair.write(source, 0, remote, 0, BYTES).awaitSuccess();
            }
        }
    }
}
