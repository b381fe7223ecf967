package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The path MTU that an option bounds, on both sides or on one: two that differ would refuse each other's packets. */
@Tag("verbs")
@Tag("softroce")
class PathMtuTest {
    private static final String VARIABLE = "SLUICE_VERBS_PATH_MTU";
    // no multiple of any MTU
    private static final int BYTES = 3 * 65_536 + 4097;

    @ParameterizedTest
    @Tag("softroce-long")
    @CsvSource({"256, 256", "512, 512", "1024, 1024", "2048, 2048", "4096, 4096", "512, 2048"})
    void transfersOfEveryKindArriveWithOtherBounds(int initiator, int target) {
        transfersOfEveryKindArrive(initiator, target);
    }

    @ParameterizedTest
    @CsvSource({"1024, 4096", "4096, 256"})
    void transfersOfEveryKindArrive(int initiator, int target) {
        VerbsUnderTest transport = VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1));
        try (VerbsPair pair = VerbsPair.open(
                transport,
                mine -> mine.environment(Map.of(VARIABLE, Integer.toString(initiator))),
                theirs -> theirs.environment(Map.of(VARIABLE, Integer.toString(target))))) {
            MemoryRegion source = pair.local(BYTES);
            MemoryRegion back = pair.local(BYTES);
            RemoteRegion remote = pair.attach(pair.served(BYTES));
            for (int at = 0; at < BYTES; at++) {
                source.segment().set(ValueLayout.JAVA_BYTE, at, (byte) (at * 7 + (at >> 8)));
            }
            pair.write(source, 0, remote, 0, BYTES).awaitSuccess();
            pair.read(back, 0, remote, 0, BYTES).awaitSuccess();
            assertThat(back.segment().mismatch(source.segment())).isEqualTo(-1);
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad other = MixedLoad.back(pair).start();
            load.awaitProgress(50);
            other.awaitProgress(50);
            load.stopAndCheck();
            other.stopAndCheck();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 512, 1024})
    void boundIsOfferedToThePeer(int bytes) {
        VerbsOptions options = VerbsOptions.builder()
                .devices(TestDevices.get(0))
                .pathMtu(bytes)
                .build();
        try (LoneEndpoint endpoint = new LoneEndpoint(options, 4096)) {
            assertThat(VerbsOffer.read(endpoint.offer()).rails().getFirst().mtu())
                    .isEqualTo(bytes);
        }
    }
}
