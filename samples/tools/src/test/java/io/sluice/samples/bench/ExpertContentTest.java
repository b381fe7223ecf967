package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The content of experts, and that its check takes nothing wrong for right. */
class ExpertContentTest {
    private static final int HIDDEN = 256;
    private static final ExpertPlan PLAN = new ExpertPlan(
            ExpertMode.NORMAL, 2, 10, HIDDEN, 3, 8, true, null, null, true, Duration.ZERO, Duration.ZERO, 1);

    private final ExpertContent content = new ExpertContent(PLAN);
    private final MemorySegment memory = Arena.ofAuto().allocate(2L * HIDDEN, Long.BYTES);

    @AfterEach
    void close() {
        content.close();
    }

    @Test
    void theExpertsOfATokenDiffer() {
        for (int token = 0; token < 10; token++) {
            assertThat(List.of(content.choice(1, token, 0), content.choice(1, token, 1), content.choice(1, token, 2)))
                    .doesNotHaveDuplicates()
                    .allMatch(expert -> expert >= 0 && expert < 8);
        }
    }

    @Test
    void anotherVectorIsSeen() {
        content.token(5, 1, 7).put(memory, 0);
        assertThat(content.token(5, 1, 7).isIn(memory, 0)).isTrue();
        assertThat(content.token(4, 1, 7).isIn(memory, 0)).as("a stale one").isFalse();
        assertThat(content.token(5, 0, 7).isIn(memory, 0)).as("another rank's").isFalse();
        assertThat(content.token(5, 1, 6).isIn(memory, 0)).as("another token").isFalse();
        assertThat(content.answer(5, 1, 7, 2).isIn(memory, 0)).as("an answer").isFalse();
        spoilLastBit();
        assertThat(content.token(5, 1, 7).isIn(memory, 0)).isFalse();
    }

    private void spoilLastBit() {
        long last = memory.byteSize() - 1;
        memory.set(ValueLayout.JAVA_BYTE, last, (byte) (memory.get(ValueLayout.JAVA_BYTE, last) ^ 1));
    }

    @Test
    void aSumIsOfAllItsTerms() {
        ExpertContent.Sum sum = content.new Sum();
        sum.clear();
        sum.add(content.token(1, 0, 3), 1);
        content.token(1, 0, 3).put(memory, 0);
        assertThat(sum.isIn(memory, 0)).isTrue();
        sum.add(content.token(1, 0, 4), 0.5f);
        assertThat(sum.isIn(memory, 0)).isFalse();
        sum.add(content.token(1, 0, 4), -0.5f);
        spoilLastBit();
        assertThat(sum.isIn(memory, 0)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 56",
        "1.0625, 56", // the even one of two
        "1.1875, 58",
        "448, 126",
        "1e9, 126",
        "240, 119",
        "-0.5, 176",
        "0.015625, 8", // the least normal one
        "0.001953125, 1", // the least of all
        "0.0009765625, 0", // half of it
        "0.0009765626, 1",
        "0.0029296875, 2"
    })
    void floatsOfEightBits(float value, int code) {
        assertThat(Byte.toUnsignedInt(Float8.code(value))).isEqualTo(code);
    }

    @Test
    void theGreatestOfAGroupHasTheGreatestCode() {
        float[] channels = new float[256];
        channels[200] = -3;
        channels[201] = 1.5f;
        byte[] codes = new byte[128];
        Float8.quantise(channels, 128, codes);
        assertThat(codes[72]).isEqualTo((byte) 0xfe);
        assertThat(codes[73]).isEqualTo((byte) 0x76);
        assertThat(Float8.inverseScale(channels, 128)).isEqualTo(3 * (1 / 448f));
        assertThat(Float8.inverseScale(channels, 0)).isEqualTo(1e-4f * (1 / 448f));
    }
}
