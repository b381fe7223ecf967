package io.sluice.engine.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandshakeBuffersTest {
    @Test
    void oneThatIsBackIsUsedAgain() {
        HandshakeBuffers buffers = new HandshakeBuffers(2);
        for (int i = 0; i < 100; i++) {
            ByteBuffer one = buffers.take();
            ByteBuffer other = buffers.take().put((byte) 1);
            assertThat(one.remaining()).isEqualTo(HandshakeBuffers.BYTES);
            buffers.give(one);
            buffers.give(other);
        }
        assertThat(buffers.made()).isEqualTo(2);
        assertThat(buffers.take().position()).isZero();
    }

    @Test
    void noMoreAreKeptThanMayBe() {
        HandshakeBuffers buffers = new HandshakeBuffers(1);
        ByteBuffer one = buffers.take();
        ByteBuffer other = buffers.take();
        buffers.give(one);
        buffers.give(other);
        assertThat(buffers.take()).isSameAs(one);
        assertThat(buffers.take()).isNotSameAs(other);
    }

    /** The platform waits half a second and collects garbage before it says that there is no memory. */
    @Test
    void memoryThatIsLackingIsNotAskedForByEachStranger() {
        AtomicInteger asked = new AtomicInteger();
        HandshakeBuffers buffers = new HandshakeBuffers(1, bytes -> {
            asked.incrementAndGet();
            throw new OutOfMemoryError("none");
        });
        for (int i = 0; i < 1000; i++) {
            assertThatThrownBy(buffers::take).isInstanceOf(OutOfMemoryError.class);
        }
        assertThat(asked.get()).isLessThan(500);
    }
}
