package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sluice.samples.kvcache.BlockHashes;
import org.junit.jupiter.api.Test;

class TraceRequestTest {

    @Test
    void refusesWhatCannotBe() {
        BlockHashes one = BlockHashes.of(1);
        assertThatIllegalArgumentException().isThrownBy(() -> new TraceRequest(-1, 10, 1, one));
        assertThatIllegalArgumentException().isThrownBy(() -> new TraceRequest(0, 0, 1, BlockHashes.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new TraceRequest(0, 10, -1, one));
        assertThatIllegalArgumentException().isThrownBy(() -> new TraceRequest(0, 513, 1, one));
    }
}
