package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A lane breaks when its requests have been carried out, and before an answer says so: none is carried out again. */
@Tag("verbs")
class LostAnswersTest {
    private static final int ROUNDS = 5;
    private static final int WORD = 8;
    private static final int BYTES = 64;

    private final SoftAdapter adapter = SoftAdapter.get();

    private enum Change {
        FETCH_ADD,
        SIGNAL,
        WRITE_WITH_SIGNAL
    }

    @AfterEach
    void answerAgain() {
        adapter.loseAnswers(TestDevices.get(0), false);
    }

    private static TransferEnd start(Change change, VerbsPair pair, MemoryRegion source, RemoteRegion remote) {
        TransferEnd end = new TransferEnd();
        switch (change) {
            case FETCH_ADD -> pair.connection().fetchAdd(remote, WORD, 1, TransferOptions.defaults(), end);
            case SIGNAL ->
                pair.connection().signal(new RemoteSignal(remote, WORD).weak(), TransferOptions.defaults(), end);
            case WRITE_WITH_SIGNAL -> {
                return pair.writeWithSignal(source, 0, remote, BYTES, BYTES, remote, WORD);
            }
        }
        return end;
    }

    private void breakAfterEach(Change change, AtomicDomain domain) {
        int before = adapter.mark();
        // what would be sent again and what is sent later keep their order on one lane
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(1))) {
            MemoryRegion region =
                    pair.target().allocate(2 * BYTES, RegionOptions.readWrite().atomics(domain));
            MemoryRegion source = pair.local(BYTES);
            RemoteRegion remote = pair.attach(region);
            for (long round = 1; round <= ROUNDS; round++) {
                adapter.loseAnswers(TestDevices.get(0), true);
                TransferEnd end = start(change, pair, source, remote);
                long carriedOut = round;
                Patience.until("it is carried out", () -> region.signal(WORD).value() >= carriedOut);
                adapter.breakAll(before);
                adapter.loseAnswers(TestDevices.get(0), false);
                Optional<SluiceException> error = end.await();
                if (domain == AtomicDomain.NETWORK_ADAPTER) {
                    // neither adapter tells
                    assertThat(error).containsInstanceOf(OutcomeUnknownException.class);
                } else {
                    // the target's engine has counted what it got
                    assertThat(error).isEmpty();
                }
                pair.write(source, 0, remote, BYTES, BYTES).awaitSuccess();
                assertThat(region.signal(WORD).value()).isEqualTo(round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void wordOfTheAdapterIsNotChangedAgain(Change change) {
        breakAfterEach(change, AtomicDomain.NETWORK_ADAPTER);
    }

    @ParameterizedTest
    @EnumSource
    void wordOfTheProcessorIsNotChangedAgain(Change change) {
        breakAfterEach(change, AtomicDomain.TARGET_CPU);
    }
}
