package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.RemoteKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PacketAssemblerTest {
    private static final int[] PAYLOADS = {0, 1, 300, 0, Packet.HEADER_BYTES, 5000};

    private static MemorySegment stream() {
        MemorySegment stream = MemorySegment.ofArray(new byte[20_000]);
        long at = 0;
        for (int i = 0; i < PAYLOADS.length; i++) {
            MemorySegment filling = MemorySegment.ofArray(new byte[PAYLOADS[i]]).fill((byte) i);
            Packet packet = Packet.blank(stream.asSlice(at), PacketKind.WRITE, 100 + i)
                    .region(new RemoteKey(1, 2, 3), 4, 5_000)
                    .signal(new RemoteKey(6, 7, 8), 9, 10)
                    .operands(11, 12)
                    .payload(13, filling, 0, PAYLOADS[i])
                    .sequence(i);
            at += packet.size();
        }
        return stream.asSlice(0, at);
    }

    @Test
    void packetsComeOutWholeWhereverTheStreamIsCut() {
        MemorySegment stream = stream();
        for (long step : new long[] {1, 7, Packet.HEADER_BYTES, 1000, stream.byteSize()}) {
            List<Packet> packets = new ArrayList<>();
            PacketAssembler assembler = new PacketAssembler(packets::add);
            for (long at = 0; at < stream.byteSize(); at += step) {
                assembler.take(stream.asSlice(at), Math.min(step, stream.byteSize() - at));
            }
            assertThat(assembler.isInsidePacket()).isFalse();
            assertThat(assembler.begun()).isEqualTo(PAYLOADS.length);
            assertThat(packets).hasSize(PAYLOADS.length);
            for (int i = 0; i < PAYLOADS.length; i++) {
                assertSame(packets.get(i), i);
            }
        }
    }

    private static void assertSame(Packet packet, int number) {
        assertThat(packet.kind()).isEqualTo(PacketKind.WRITE);
        assertThat(packet.request()).isEqualTo(100 + number);
        assertThat(packet.sequence()).isEqualTo(number);
        assertThat(packet.region()).usingRecursiveComparison().isEqualTo(new RemoteKey(1, 2, 3));
        assertThat(packet.offset()).isEqualTo(4);
        assertThat(packet.length()).isEqualTo(5_000);
        assertThat(packet.hasSignal()).isTrue();
        assertThat(packet.isWithdrawn()).isFalse();
        assertThat(packet.signal()).usingRecursiveComparison().isEqualTo(new RemoteKey(6, 7, 8));
        assertThat(packet.signalOffset()).isEqualTo(9);
        assertThat(packet.signalAddend()).isEqualTo(10);
        assertThat(packet.operand()).isEqualTo(11);
        assertThat(packet.expected()).isEqualTo(12);
        assertThat(packet.position()).isEqualTo(13);
        assertThat(packet.payloadLength()).isEqualTo(PAYLOADS[number]);
        MemorySegment payload = MemorySegment.ofArray(new byte[PAYLOADS[number]]);
        packet.copyPayload(payload, 0);
        MemorySegment expected =
                MemorySegment.ofArray(new byte[PAYLOADS[number]]).fill((byte) number);
        assertThat(payload.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void insideOfAPacketIsTold() {
        MemorySegment stream = stream();
        PacketAssembler assembler = new PacketAssembler(packet -> {});
        assembler.take(stream, 1);
        assertThat(assembler.isInsidePacket()).isTrue();
        assembler.take(stream.asSlice(1), Packet.HEADER_BYTES - 1);
        assertThat(assembler.isInsidePacket()).isFalse();
        assembler.take(stream.asSlice(Packet.HEADER_BYTES), Packet.HEADER_BYTES);
        assertThat(assembler.isInsidePacket()).isTrue();
    }

    @Test
    void bytesThatAreNoPacketAreRefused() {
        PacketAssembler assembler = new PacketAssembler(packet -> {});
        assertThatThrownBy(() -> assembler.take(MemorySegment.ofArray(new byte[1000]), 1000))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void packetThatWasLeftOutIsNoticed() {
        MemorySegment stream = stream();
        PacketAssembler assembler = new PacketAssembler(packet -> {});
        assertThatThrownBy(() -> assembler.take(stream.asSlice(Packet.HEADER_BYTES), 1000))
                .isInstanceOf(ProtocolException.class);
    }
}
