package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.VerbsDevice;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GidTest {
    private static final String LINK_LOCAL = "fe80000000000000505400fffe123456";
    private static final String GLOBAL = "20010db8000000000000000000000001";
    private static final String IPV4 = "00000000000000000000ffff0a000001";

    private static Gid gid(int index, String bytes, int type) {
        return new Gid(index, HexFormat.of().parseHex(bytes), type);
    }

    @Test
    void secondVersionOfRoceComesFirstAndThenAddressesThatCanBeRouted() {
        Stream<Gid> table = Stream.of(
                gid(0, LINK_LOCAL, VerbsDevice.GID_ROCE_V1),
                gid(1, LINK_LOCAL, VerbsDevice.GID_ROCE_V2),
                gid(2, GLOBAL, VerbsDevice.GID_ROCE_V2),
                gid(3, IPV4, VerbsDevice.GID_ROCE_V1),
                gid(4, IPV4, VerbsDevice.GID_ROCE_V2),
                gid(5, GLOBAL, VerbsDevice.GID_ROCE_V1));
        assertThat(table.sorted(Comparator.comparingInt(Gid::rank).reversed()).map(Gid::index))
                .containsExactly(4, 2, 1, 3, 5, 0);
    }

    @Test
    void ofEqualOnesTheIndexTellsApart() {
        Gid one = gid(1, IPV4, VerbsDevice.GID_ROCE_V2);
        assertThat(one)
                .isEqualTo(gid(1, IPV4, VerbsDevice.GID_ROCE_V2))
                .hasSameHashCodeAs(gid(1, IPV4, VerbsDevice.GID_ROCE_V2))
                .isNotEqualTo(gid(2, IPV4, VerbsDevice.GID_ROCE_V2))
                .isNotEqualTo(gid(1, GLOBAL, VerbsDevice.GID_ROCE_V2))
                .isNotEqualTo(gid(1, IPV4, VerbsDevice.GID_ROCE_V1))
                .hasToString("GID 1 " + IPV4);
    }

    @Test
    void entryOfZerosIsEmpty() {
        assertThat(gid(0, "0".repeat(32), VerbsDevice.GID_ROCE_V2).isEmpty()).isTrue();
        assertThat(gid(0, LINK_LOCAL, VerbsDevice.GID_ROCE_V2).isEmpty()).isFalse();
    }
}
