package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.control.PeerText;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PeerTextTest {
    private static final byte[] LINES = "shm=one\nother=\u001b[1mtwo".getBytes(StandardCharsets.UTF_8);

    @Test
    void nothingThatIsNotPrintableIsLeft() {
        assertThat(PeerText.read(LINES)).isEqualTo("shm=one?other=?[1mtwo");
        assertThat(PeerText.read(ByteBuffer.wrap(LINES))).isEqualTo("shm=one?other=?[1mtwo");
    }

    @Test
    void linesStayLines() {
        assertThat(PeerText.readLines(LINES)).isEqualTo("shm=one\nother=?[1mtwo");
    }

    @Test
    void itIsShort() {
        assertThat(PeerText.read(new byte[100_000])).hasSize(512);
        assertThat(PeerText.readLines(new byte[100_000])).hasSize(512);
    }

    /** Each transport has a line of its own, and must be found with any content of the others. */
    @Test
    void placesOfSeveralTransportsAreTold() {
        byte[] hello = new FieldWriter()
                .put(Tag.TRANSPORTS_REACH, "shm=here\nother=there")
                .toBytes();
        assertThat(TransportFallback.reachOf(new FieldReader(ByteBuffer.wrap(hello))))
                .isEqualTo("shm=here\nother=there");
        assertThat(TransportFallback.reachOf(new FieldReader(ByteBuffer.wrap(new FieldWriter().toBytes()))))
                .isEmpty();
    }

    @Test
    void addressesOfMemoryAreNotToldToThePeer() {
        MemorySegment segment = Arena.global().allocate(64);
        assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_LONG, 64)).satisfies(error -> {
            String said = new String(PeerText.write(String.valueOf(error.getMessage())), StandardCharsets.UTF_8);
            assertThat(said)
                    .doesNotContain(Long.toString(segment.address()))
                    .doesNotContainIgnoringCase(Long.toHexString(segment.address()))
                    .contains("Out of bound access");
        });
        assertThat(new String(PeerText.write("a fault at 0x7f12ab34cd56 of lane 0x1"), StandardCharsets.UTF_8))
                .isEqualTo("a fault at (an address) of lane 0x1");
    }
}
