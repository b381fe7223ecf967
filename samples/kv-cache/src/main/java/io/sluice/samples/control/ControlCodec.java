package io.sluice.samples.control;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.deser.std.StringDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.sluice.engine.RegionDescriptor;
import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.kvcache.TokenLayout;
import java.io.IOException;

/**
 * Messages as CBOR: a map of the fields, with the kind of message under {@code type}. Reading any bytes ends with a
 * message or a {@link MalformedMessageException}, and the memory it takes is bounded by what was sent.
 */
final class ControlCodec {
    /** The longest input that is believed, in tokens: well above any context window. */
    static final int MAX_INPUT_TOKENS = 1 << 24;

    static final int MAX_BLOCKS = MAX_INPUT_TOKENS / TokenLayout.BLOCK_TOKENS;

    private static final int MAP = 5 << 5;
    private static final int MOST_COMPLAINT = 500;
    private static final ObjectMapper CBOR = CBORMapper.builder()
            .addMixIn(RegionDescriptor.class, DescriptorBytes.class)
            .addModule(new SimpleModule().addDeserializer(String.class, new WholeText()))
            .enable(
                    DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                    DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS,
                    DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build();

    private ControlCodec() {}

    /** A descriptor as its own bytes. */
    private abstract static class DescriptorBytes {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        static RegionDescriptor fromBytes(byte[] bytes) {
            return RegionDescriptor.fromBytes(bytes);
        }

        @JsonValue
        abstract byte[] toBytes();
    }

    /** Refuses halves of surrogate pairs: the library reads them, but cannot write them again. */
    private static final class WholeText extends StdScalarDeserializer<String> {
        private static final long serialVersionUID = 1L;

        WholeText() {
            super(String.class);
        }

        @Override
        public String deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            String text = StringDeserializer.instance.deserialize(parser, context);
            if (text.codePoints().anyMatch(point -> Character.getType(point) == Character.SURROGATE)) {
                throw JsonMappingException.from(parser, "a text has half of a surrogate pair");
            }
            return text;
        }
    }

    static byte[] encode(ControlMessage message) {
        try {
            return CBOR.writeValueAsBytes(message);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("messages can always be written", e);
        }
    }

    static ControlMessage decode(byte[] bytes) {
        if (bytes.length == 0) {
            throw new MalformedMessageException("an empty message");
        }
        // The library would take the kind of message from an array, too, and fails over one without it.
        if ((bytes[0] & 0xE0) != MAP) {
            throw new MalformedMessageException("malformed message: it is no map of fields");
        }
        try {
            ControlMessage message = CBOR.readValue(bytes, ControlMessage.class);
            if (message == null) {
                throw new MalformedMessageException("a message is null");
            }
            check(message);
            return message;
        } catch (JsonProcessingException e) {
            throw new MalformedMessageException("malformed message: " + shortened(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new MalformedMessageException("malformed message: " + e.getMessage());
        }
    }

    /** The library's complaint, which may quote what came. */
    private static String shortened(String complaint) {
        return complaint.length() <= MOST_COMPLAINT ? complaint : complaint.substring(0, MOST_COMPLAINT) + "…";
    }

    /** Complains about values that no other side of this release sends. */
    private static void check(ControlMessage message) {
        switch (message) {
            case Hello hello -> {
                require(hello.layers() >= 1, message, "layers");
                require(hello.pageBytes() >= 1, message, "page bytes");
            }
            case Welcome welcome -> require(welcome.slots() >= 1, message, "slots");
            case Allocate allocate -> {
                int tokens = allocate.inputTokens();
                require(tokens >= 1 && tokens <= MAX_INPUT_TOKENS, message, "input tokens");
                require(allocate.blockHashes().size() == TokenLayout.blocks(tokens), message, "number of hashes");
            }
            case Pages pages -> {
                PageAssignment assignment = pages.assignment();
                require(assignment.blocks() <= MAX_BLOCKS, message, "blocks");
                for (int block = 0; block < assignment.blocks(); block++) {
                    int reused = assignment.reusedPages(block);
                    require(reused >= 0 && reused <= TokenLayout.BLOCK_PAGES, message, "reused pages");
                }
            }
            case Result result -> {
                require(result.checkedPages() >= 0, message, "checked pages");
                require(result.corruptedPages() >= 0, message, "corrupted pages");
            }
            case Last _, Refused _ -> {}
        }
    }

    private static void require(boolean possible, ControlMessage message, String field) {
        if (!possible) {
            throw new MalformedMessageException(
                    "malformed " + message.getClass().getSimpleName() + " message: impossible " + field);
        }
    }
}
