package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.fuzz.Mutation;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FieldReaderTest {
    private static FieldReader read(byte[] bytes) {
        return new FieldReader(ByteBuffer.wrap(bytes));
    }

    @Test
    void readsWhatIsWritten() {
        EngineId id = EngineId.random();
        FieldReader fields = read(new FieldWriter()
                .put(1, FieldReader.toBytes(id))
                .put(2, -7L)
                .put(3, "hello")
                .put(0xffff, new byte[0xffff])
                .put(4, new byte[0])
                .toBytes());
        assertThat(fields.engineId(1)).isEqualTo(id);
        assertThat(fields.number(2, -7, -7)).isEqualTo(-7);
        assertThat(fields.text(3)).isEqualTo("hello");
        assertThat(fields.bytes(0xffff)).hasSize(0xffff);
        assertThat(fields.bytes(4)).isEmpty();
        assertThat(fields.optional(5)).isNull();
    }

    @Test
    void whatIsMissingOutOfRangeOrOfAnotherLengthIsToldByItsNumber() {
        FieldReader fields =
                read(new FieldWriter().put(2, 7L).put(3, new byte[3]).toBytes());
        assertThatThrownBy(() -> fields.bytes(9))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("9");
        assertThatThrownBy(() -> fields.number(2, 8, 9))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("2");
        assertThatThrownBy(() -> fields.number(2, 5, 6)).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> fields.number(3, 0, 9))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("3");
        assertThatThrownBy(() -> fields.bytes(3, 4)).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> fields.engineId(3)).isInstanceOf(ProtocolException.class);
    }

    /** It stands in errors and logs. */
    @Test
    void aTextIsShortAndPrintable() {
        FieldReader fields = read(new FieldWriter()
                .put(1, "tcp\nERROR the disk is full")
                .put(2, "x".repeat(30_000))
                .toBytes());
        assertThat(fields.text(1)).isEqualTo("tcp?ERROR the disk is full");
        assertThat(fields.text(2)).hasSize(512);
    }

    /** Each is looked for in all of them, before the peer has proved anything. */
    @Test
    void namesAreFew() {
        FieldReader fields = read(
                new FieldWriter().put(1, "shm,tcp").put(2, "a,".repeat(15_000)).toBytes());
        assertThat(fields.names(1)).containsExactly("shm", "tcp");
        assertThatThrownBy(() -> fields.names(2))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("30000 bytes of names");
    }

    @Test
    void damagedFieldsAreRefused() {
        byte[] twice = new FieldWriter().put(1, 1L).put(1, 1L).toBytes();
        assertThatThrownBy(() -> read(twice)).isInstanceOf(ProtocolException.class);
        byte[] whole = new FieldWriter().put(1, 1L).put(2, 1L).toBytes();
        for (int length = 1; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            if (length != whole.length / 2) {
                assertThatThrownBy(() -> read(cut)).as("cut at %d", length).isInstanceOf(ProtocolException.class);
            }
        }
        FieldWriter many = new FieldWriter();
        for (int tag = 0; tag < 64; tag++) {
            many.put(tag, new byte[0]);
        }
        read(many.toBytes());
        assertThatThrownBy(() -> read(many.put(64, new byte[0]).toBytes())).isInstanceOf(ProtocolException.class);
    }

    /** Any input is read or refused with the one typed error. */
    @Test
    void randomBytesAreReadOrRefused() {
        long seed = Long.getLong("sluice.test.seed", 99);
        System.out.println("FieldReaderTest: -Dsluice.test.seed=" + seed);
        Random random = new Random(seed);
        byte[] valid = new FieldWriter()
                .put(Tag.ENGINE_ID, new byte[16])
                .put(Tag.EPOCH, 5L)
                .put(Tag.NONCE, new byte[32])
                .put(Tag.CONNECTION_ID, new byte[16])
                .put(Tag.TRANSPORT, "tcp")
                .put(Tag.NOTIFICATION_CREDITS, 5L)
                .put(Tag.MAX_NOTIFICATION_BYTES, 5L)
                .put(Tag.LIVENESS_MILLIS, 5L)
                .put(Tag.AUTHENTICATION, 0L)
                .put(Tag.CODE, 1L)
                .put(Tag.MESSAGE, "message")
                .toBytes();
        int read = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes;
            if (random.nextInt(4) == 0) {
                bytes = new byte[random.nextInt(100)];
                random.nextBytes(bytes);
            } else {
                bytes = Mutation.of(valid, random);
            }
            read += look(bytes, random) ? 1 : 0;
        }
        assertThat(read).as("some must get through, or nothing was tried").isGreaterThan(1000);
    }

    private static boolean look(byte[] bytes, Random random) {
        try {
            FieldReader fields = read(bytes);
            int tag = random.nextInt(18);
            switch (random.nextInt(7)) {
                case 0 -> fields.bytes(tag);
                case 1 -> fields.bytes(tag, random.nextInt(33));
                case 2 -> fields.number(tag, 0, random.nextLong(Long.MAX_VALUE));
                case 3 -> fields.text(tag);
                case 4 -> fields.engineId(tag);
                case 5 -> Welcome.unproven(fields);
                default -> {
                    SluiceException said = Rejection.read(ByteBuffer.wrap(bytes), EngineAddress.of("localhost", 1));
                    assertThat(said.getMessage()).hasSizeLessThan(1000);
                }
            }
            return true;
        } catch (ProtocolException refused) {
            return false;
        }
    }
}
