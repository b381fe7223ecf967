package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.control.PeerText;
import io.sluice.fuzz.ParserFuzz;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The bodies of the bootstrap's messages, which any host that reaches the port may send. */
class BootstrapFuzzTest {
    private static final EngineAddress FROM = EngineAddress.of("localhost", 1);
    private static final int HIGHEST_TAG = 64;

    private static byte[] hello() {
        return new FieldWriter()
                .put(Tag.ENGINE_ID, new byte[16])
                .put(Tag.EPOCH, 5L)
                .put(Tag.NONCE, new byte[32])
                .put(Tag.TRANSPORTS, "shm,verbs,tcp")
                .put(Tag.TRANSPORTS_REACH, "shm=boot net:[1] -")
                .put(Tag.NOTIFICATION_CREDITS, 5L)
                .put(Tag.MAX_NOTIFICATION_BYTES, 5L)
                .put(Tag.LIVENESS_MILLIS, 5L)
                .put(Tag.AUTHENTICATION, 0L)
                .put(Tag.EXPECTED_ENGINE_ID, new byte[16])
                .toBytes();
    }

    private static byte[] welcome() {
        return new FieldWriter()
                .put(Tag.ENGINE_ID, new byte[16])
                .put(Tag.EPOCH, 5L)
                .put(Tag.NONCE, new byte[32])
                .put(Tag.CONNECTION_ID, new byte[16])
                .put(Tag.TRANSPORT, "tcp")
                .put(Tag.NOTIFICATION_CREDITS, 5L)
                .put(Tag.MAX_NOTIFICATION_BYTES, 5L)
                .put(Tag.LIVENESS_MILLIS, 5L)
                .put(Tag.AUTHENTICATION, 0L)
                .put(Tag.PROOF, new byte[32])
                .toBytes();
    }

    private static byte[] lane() {
        return new FieldWriter()
                .put(Tag.CONNECTION_ID, new byte[16])
                .put(Tag.LANE_INDEX, 1L)
                .put(Tag.PROOF, new byte[32])
                .toBytes();
    }

    @Test
    void fields() {
        ParserFuzz.of("bootstrap-fields")
                .valid(hello(), welcome(), lane())
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    FieldReader fields = new FieldReader(ByteBuffer.wrap(input));
                    for (int tag = 0; tag < HIGHEST_TAG; tag++) {
                        byte[] value = fields.optional(tag);
                        if (value != null) {
                            assertThat(PeerText.read(value)).hasSizeLessThanOrEqualTo(512);
                            read(fields, tag, value.length);
                        }
                    }
                });
    }

    private static void read(FieldReader fields, int tag, int length) {
        switch (length) {
            case 8 -> fields.number(tag, 0, 1L << 62);
            case 16 -> fields.engineId(tag);
            default -> fields.text(tag);
        }
    }

    @Test
    void whatTheProofsCover() {
        ParserFuzz.of("bootstrap-welcome")
                .valid(welcome())
                .refusesBy(ProtocolException.class)
                .run(input -> Welcome.unproven(new FieldReader(ByteBuffer.wrap(input))));
    }

    @Test
    void rejections() {
        ParserFuzz.of("bootstrap-rejection")
                .valid(Rejection.write(Rejection.AUTHENTICATION, "the token is wrong"), Rejection.write(99, "\u0007ä"))
                .refusesBy(ProtocolException.class)
                .run(input -> assertThat(
                                Rejection.read(ByteBuffer.wrap(input), FROM).getMessage())
                        .hasSizeLessThan(1000)
                        .doesNotContain("\u0007"));
    }
}
