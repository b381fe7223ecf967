package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The same frames where they are copied before they leave, as encrypted ones are. */
class CopiedFramesTest extends OutboundFramesTest {
    private static final int ROOM = 70_000;

    private final MemorySegment copies = Arena.ofAuto().allocate(ROOM);

    @Override
    long take(OutboundFrames from, long room, ByteArrayOutputStream to) {
        int count = from.copy(copies, Math.min(room, ROOM));
        assertThat(count).isPositive();
        to.writeBytes(copies.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE));
        return count;
    }
}
