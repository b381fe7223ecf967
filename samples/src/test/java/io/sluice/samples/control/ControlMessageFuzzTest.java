package io.sluice.samples.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.fuzz.ParserFuzz;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The messages of the mover, from whoever has connected. */
class ControlMessageFuzzTest {
    private static final int LONG = 10_000;

    @Test
    void messages() {
        ParserFuzz.of("mover-messages")
                .valid(ControlCodecTest.messages()
                        .map(ControlEncoder::encode)
                        .filter(bytes -> bytes.length < LONG)
                        .toArray(byte[][]::new))
                .refusesBy(MalformedMessageException.class)
                .allocating(1024)
                .run(input -> {
                    ControlMessage read = ControlDecoder.decode(input);
                    byte[] again = ControlEncoder.encode(read);
                    assertThat(ControlDecoder.decode(again)).isEqualTo(read);
                    assertThat(Arrays.equals(again, ControlEncoder.encode(read)))
                            .isTrue();
                });
    }
}
