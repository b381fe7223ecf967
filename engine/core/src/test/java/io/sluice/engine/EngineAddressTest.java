package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineAddressTest {
    private static final EngineAddress[] ADDRESSES = {
        EngineAddress.of("127.0.0.1", 1),
        EngineAddress.of("node-7.example.org", 65_535),
        EngineAddress.of("::1", 7000),
        EngineAddress.of("fe80::1%eth0", 7000),
        EngineAddress.of("größe.example", 7000),
        EngineAddress.of("h".repeat(255), 7000),
        new EngineAddress("10.0.0.1", 7000, EngineId.random()),
        new EngineAddress("2001:db8::1", 49_152, new EngineId(-1, Long.MIN_VALUE))
    };

    @Test
    void bothFormsSurvive() {
        for (EngineAddress address : ADDRESSES) {
            assertThat(EngineAddress.parse(address.toString())).isEqualTo(address);
            assertThat(EngineAddress.fromBytes(address.toBytes())).isEqualTo(address);
            assertThat(address.toBytes().length).isLessThanOrEqualTo(276);
        }
    }

    @Test
    void bytesAreInNetworkOrder() {
        assertThat(new EngineAddress("ab", 0x1234, new EngineId(0x0102030405060708L, 0x090A0B0C0D0E0F10L)).toBytes())
                .containsExactly(1, 1, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 'a', 'b');
        assertThat(EngineAddress.of("ab", 0xFFFE).toBytes()).containsExactly(1, 0, -1, -2, 2, 'a', 'b');
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "host",
                "host:",
                ":7000",
                "host:0",
                "host:65536",
                "host:-1",
                "host:port",
                "::1:7000:",
                "::1",
                "::1:7000",
                "[::1]",
                "ho st:7000",
                "host:7000#",
                "host:7000#12",
                "host:7000#0123456789abcdef0123456789abcdeg",
                "host#0123456789abcdef0123456789abcdef",
                "[]:7000"
            })
    void otherTextIsRefused(String text) {
        assertThatThrownBy(() -> EngineAddress.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void partsAreChecked() {
        assertThatThrownBy(() -> EngineAddress.of("", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("h".repeat(256), 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("ü".repeat(128), 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("a\nb", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("[::1]", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("a", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of("a", 65_536)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void everyCutIsRefused() {
        for (EngineAddress address : ADDRESSES) {
            byte[] bytes = address.toBytes();
            for (int length = 0; length < bytes.length; length++) {
                byte[] cut = Arrays.copyOf(bytes, length);
                assertThatThrownBy(() -> EngineAddress.fromBytes(cut)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> EngineAddress.fromBytes(Arrays.copyOf(bytes, bytes.length + 1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void damagedBytesGiveAnAddressOrTheTypedError() {
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = ADDRESSES[random.nextInt(ADDRESSES.length)].toBytes();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            if (random.nextInt(8) == 0) {
                bytes = Arrays.copyOf(bytes, random.nextInt(300));
            }
            try {
                EngineAddress address = EngineAddress.fromBytes(bytes);
                assertThat(address.port()).isBetween(1, 65_535);
                assertThat(address.host()).isNotEmpty();
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void randomTextGivesAnAddressOrTheTypedError() {
        Random random = new Random(2);
        String alphabet = "[]:#0123456789abcdef.% -";
        for (int i = 0; i < 200_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(50); length > 0; length--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                EngineAddress address = EngineAddress.parse(text.toString());
                assertThat(EngineAddress.fromBytes(address.toBytes())).isEqualTo(address);
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageNotContaining("null");
            }
        }
    }
}
