package io.sluice.samples.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.fuzz.ParserFuzz;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The messages of the mover, from any peer that has connected. */
class ControlMessageFuzzTest {
    private static final int LONG = 10_000;

    @Test
    void messages() {
        ParserFuzz.of("mover-messages")
                .valid(ControlCodecTest.messages()
                        .map(ControlCodec::encode)
                        .filter(bytes -> bytes.length < LONG)
                        .toArray(byte[][]::new))
                .refusesBy(MalformedMessageException.class)
                .allocating(1024)
                // the buffers of the CBOR library, and its complaints
                .having(256 << 10)
                .run(input -> {
                    ControlMessage read = ControlCodec.decode(input);
                    byte[] again = ControlCodec.encode(read);
                    assertThat(ControlCodec.decode(again)).isEqualTo(read);
                    assertThat(Arrays.equals(again, ControlCodec.encode(read))).isTrue();
                });
    }
}
