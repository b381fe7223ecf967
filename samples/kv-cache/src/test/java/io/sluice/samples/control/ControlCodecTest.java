package io.sluice.samples.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.TokenLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ControlCodecTest {

    private static final CBORMapper CBOR = new CBORMapper();
    private static final int LARGEST = ControlCodec.MAX_INPUT_TOKENS;

    static Stream<ControlMessage> messages() {
        return Stream.of(
                new Hello("qwen2.5-0.5b", 24, 8192),
                new Hello("", 1, 1),
                new Hello("größer", Integer.MAX_VALUE, Integer.MAX_VALUE),
                new Welcome(1, descriptor(1), descriptor(2)),
                new Welcome(Integer.MAX_VALUE, descriptor(1), descriptor(2)),
                new Allocate(0, 1, BlockHashes.of(7)),
                new Allocate(Long.MAX_VALUE, 1025, BlockHashes.of(0, Long.MAX_VALUE, -1)),
                new Allocate(1, LARGEST, hashes(TokenLayout.blocks(LARGEST))),
                new Pages(0, new PageAssignment(new int[0], new int[0])),
                new Pages(3, new PageAssignment(new int[] {32, 0, 5}, new int[] {9, 8, 7, 1, 2, 3, 100})),
                new Pages(
                        4,
                        new PageAssignment(new int[] {0}, IntStream.range(0, 32).toArray())),
                new Pages(5, new PageAssignment(new int[] {31}, new int[] {Integer.MAX_VALUE - 1})),
                new Last(Long.MIN_VALUE),
                new Result(1, Long.MAX_VALUE, 0),
                new Refused(RefusedException.RefusalReason.POOL_TOO_SMALL, "give --pool 4GiB"),
                new Refused(RefusedException.RefusalReason.PROTOCOL, ""));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void whatIsWrittenIsRead(ControlMessage message) {
        assertThat(ControlCodec.decode(ControlCodec.encode(message))).isEqualTo(message);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void nothingMayBeMissingOrLeftOver(ControlMessage message) {
        byte[] whole = ControlCodec.encode(message);
        int step = Math.max(1, whole.length / 100);
        for (int length = 0; length < whole.length; length += step) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> ControlCodec.decode(part)).isInstanceOf(MalformedMessageException.class);
        }
        byte[] more = Arrays.copyOf(whole, whole.length + 1);
        assertThatThrownBy(() -> ControlCodec.decode(more)).isInstanceOf(MalformedMessageException.class);
    }

    @Test
    void scatteredPageIdsOfTheLargestRequestFitIntoAMessage() {
        int blocks = TokenLayout.blocks(LARGEST);
        int[] scattered = IntStream.range(0, blocks * TokenLayout.BLOCK_PAGES)
                .map(i -> i * 2)
                .toArray();
        ControlMessage message = new Pages(1, new PageAssignment(new int[blocks], scattered));
        byte[] bytes = ControlCodec.encode(message);
        assertThat(bytes.length).isLessThanOrEqualTo(MessageFragments.MAX_MESSAGE_BYTES);
        assertThat(ControlCodec.decode(bytes)).isEqualTo(message);
    }

    @Test
    void neighbouringPageIdsTakeLittleRoom() {
        int[] neighbours = IntStream.range(1000, 9192).toArray();
        byte[] bytes = ControlCodec.encode(new Pages(1, new PageAssignment(new int[256], neighbours)));
        assertThat(bytes.length).isLessThan(400);
    }

    @Test
    void longTextsAreCutBetweenCharacters() {
        String text = "ä".repeat(Refused.MAX_TEXT);
        ControlMessage read = ControlCodec.decode(
                ControlCodec.encode(new Refused(RefusedException.RefusalReason.OCCUPIED, "x" + text)));
        assertThat(read)
                .isInstanceOfSatisfying(
                        Refused.class,
                        refused -> assertThat(refused.text())
                                .hasSize(Refused.MAX_TEXT)
                                .startsWith("xää")
                                .endsWith("ä"));
    }

    @Test
    void aTextIsNotCutWithinACharacter() {
        Refused refused =
                new Refused(RefusedException.RefusalReason.OCCUPIED, "x" + "\uD83D\uDE00".repeat(Refused.MAX_TEXT));
        assertThat(refused.text()).hasSize(Refused.MAX_TEXT - 1);
        assertThat(ControlCodec.decode(ControlCodec.encode(refused))).isEqualTo(refused);
    }

    /** The names are part of the message format. */
    @Test
    void messagesAndReasonsOfARefusalKeepTheirNames() throws IOException {
        assertThat(messages().map(message -> written(message, "type")).distinct())
                .containsExactly("hello", "welcome", "allocate", "pages", "last", "result", "refused");
        assertThat(Stream.of(RefusedException.RefusalReason.values())
                        .map(reason -> written(new Refused(reason, ""), "reason")))
                .containsExactly("protocol", "other-model", "occupied", "pool-too-small");
        byte[] unknown = CBOR.writeValueAsBytes(Map.of("type", "refused", "reason", "weather", "text", ""));
        assertThatThrownBy(() -> ControlCodec.decode(unknown))
                .isInstanceOf(MalformedMessageException.class)
                .hasMessageContainingAll("RefusalReason", "weather");
    }

    /** The library makes a low surrogate of the byte F6 and those after it. */
    @Test
    void textThatCannotBeWrittenAgainIsMalformed() {
        byte[] bytes = HexFormat.of()
                .parseHex("bf6474797065677265667573656466726561736f6e6e706f6f6c2d746f6f2d736d616c6c"
                        + "6474657874706769f665202d2d706f6f6c2034476942ff");
        assertThatThrownBy(() -> ControlCodec.decode(bytes))
                .isInstanceOf(MalformedMessageException.class)
                .hasMessageContaining("surrogate");
    }

    private static String written(ControlMessage message, String field) {
        try {
            return CBOR.readTree(ControlCodec.encode(message)).get(field).asText();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Before memory is taken for the pages of so many. */
    @Test
    void moreBlocksThanAnyInputHasAreRefused() {
        int[] reused = new int[ControlCodec.MAX_BLOCKS + 1];
        assertThatThrownBy(() -> PageAssignment.ofRuns(reused, new int[] {0, reused.length * TokenLayout.BLOCK_PAGES}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than any input has");
    }

    @Test
    void impossibleValuesAreNamed() {
        assertMalformed(new Allocate(1, 1025, BlockHashes.of(1, 2)), "Allocate", "hashes");
        assertMalformed(new Allocate(1, 0, BlockHashes.of()), "Allocate", "input tokens");
        assertMalformed(new Allocate(1, LARGEST + 1, BlockHashes.of()), "Allocate", "input tokens");
        assertMalformed(new Pages(1, new PageAssignment(new int[] {33}, new int[0])), "Pages", "reused");
        assertMalformed(
                new Pages(
                        1,
                        new PageAssignment(new int[] {0}, IntStream.range(0, 33).toArray())),
                "pages to move");
        assertMalformed(new Pages(1, new PageAssignment(new int[] {0}, new int[] {-1})), "page ids");
        assertMalformed(new Result(1, -1, 0), "Result", "checked pages");
        assertMalformed(new Welcome(0, descriptor(1), descriptor(1)), "Welcome", "slots");
        assertMalformed(new Hello("m", 0, 1), "Hello", "layers");
        assertThatThrownBy(() -> ControlCodec.decode(CBOR.writeValueAsBytes(Map.of("type", "gossip"))))
                .hasMessageContaining("gossip");
        assertThatThrownBy(() -> ControlCodec.decode(new byte[0])).hasMessageContaining("empty");
    }

    @Test
    void noiseIsEitherAMessageOrMalformed() {
        Random random = new Random(1);
        int malformed = 0;
        for (int round = 0; round < 200_000; round++) {
            byte[] noise = new byte[random.nextInt(120)];
            random.nextBytes(noise);
            if (noise.length > 0) {
                // A map: what a message begins with.
                noise[0] = (byte) (0xA0 + random.nextInt(8));
            }
            malformed += isMalformed(noise);
        }
        assertThat(malformed).isGreaterThan(100_000);
    }

    @Test
    void damagedMessagesAreEitherMessagesOrMalformed() {
        Random random = new Random(2);
        for (ControlMessage message : messages().toList()) {
            byte[] bytes = ControlCodec.encode(message);
            int rounds = bytes.length > 1000 ? 20 : 2000;
            for (int round = 0; round < rounds; round++) {
                byte[] damaged = bytes.clone();
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
                isMalformed(damaged);
            }
        }
    }

    /** 1 or 0; anything but a message or the one exception fails the test. */
    private static int isMalformed(byte[] bytes) {
        try {
            ControlCodec.decode(bytes);
            return 0;
        } catch (MalformedMessageException expected) {
            assertThat(expected).hasMessageMatching("(?s).+");
            return 1;
        }
    }

    private static void assertMalformed(ControlMessage message, String... words) {
        byte[] bytes = ControlCodec.encode(message);
        assertThatThrownBy(() -> ControlCodec.decode(bytes))
                .isInstanceOf(MalformedMessageException.class)
                .hasMessageContainingAll(words);
    }

    private static RegionDescriptor descriptor(long regionId) {
        return new RegionDescriptor(
                new EngineId(1, 2), 3, regionId, 4, MemoryKind.HOST, Set.of(Access.REMOTE_WRITE), 0, 4096);
    }

    private static BlockHashes hashes(int count) {
        return BlockHashes.of(LongStream.range(0, count).toArray());
    }
}
