package io.sluice.samples.control;

import io.sluice.engine.InvalidDescriptorException;
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
import java.nio.ByteBuffer;

/**
 * Reads what {@link ControlEncoder} writes. Whatever comes, it ends with a message or a complaint, and
 * the memory it takes is bounded.
 */
final class ControlDecoder {

    /** The longest input that is believed, in tokens: well above any context window. */
    static final int MAX_INPUT_TOKENS = 1 << 24;

    private static final int MAX_BLOCKS = MAX_INPUT_TOKENS / TokenLayout.BLOCK_TOKENS;
    private static final int RUN_BYTES = 2 * Integer.BYTES;

    private ControlDecoder() {}

    static ControlMessage decode(byte[] bytes) {
        if (bytes.length == 0) {
            throw new MalformedMessageException("an empty message");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        MessageType type = MessageType.of(Byte.toUnsignedInt(in.get()));
        MessageReader reader = new MessageReader(type.name(), in);
        ControlMessage message = switch (type) {
            case HELLO -> hello(reader);
            case WELCOME -> welcome(reader);
            case ALLOCATE -> allocate(reader);
            case PAGES -> pages(reader);
            case LAST -> new Last(reader.number64());
            case RESULT -> result(reader);
            case REFUSED -> refused(reader);
        };
        reader.end();
        return message;
    }

    private static Hello hello(MessageReader in) {
        return new Hello(
                in.text("model"),
                in.number32("layers", 1, Integer.MAX_VALUE),
                in.number32("page bytes", 1, Integer.MAX_VALUE));
    }

    private static Welcome welcome(MessageReader in) {
        return new Welcome(in.number32("slots", 1, Integer.MAX_VALUE), descriptor(in), descriptor(in));
    }

    private static RegionDescriptor descriptor(MessageReader in) {
        try {
            return RegionDescriptor.fromBytes(in.bytes(RegionDescriptor.BYTES));
        } catch (InvalidDescriptorException e) {
            throw in.malformed(String.valueOf(e.getMessage()));
        }
    }

    private static Allocate allocate(MessageReader in) {
        long requestId = in.number64();
        int inputTokens = in.number32("input tokens", 1, MAX_INPUT_TOKENS);
        int blocks = TokenLayout.blocks(inputTokens);
        int count = in.number32("hashes", blocks, blocks);
        in.require((long) count * Long.BYTES);
        long[] hashes = new long[count];
        for (int i = 0; i < count; i++) {
            hashes[i] = in.number64();
        }
        return new Allocate(requestId, inputTokens, BlockHashes.of(hashes));
    }

    private static Pages pages(MessageReader in) {
        long requestId = in.number64();
        int blocks = in.number32("blocks", 0, MAX_BLOCKS);
        in.require(blocks);
        int[] reused = new int[blocks];
        for (int block = 0; block < blocks; block++) {
            reused[block] = in.number8();
            if (reused[block] > TokenLayout.BLOCK_PAGES) {
                throw in.malformed("block " + block + " has " + reused[block] + " reused pages");
            }
        }
        return new Pages(requestId, new PageAssignment(reused, pageIds(in, blocks)));
    }

    private static int[] pageIds(MessageReader in, int blocks) {
        // Bounded by the blocks, which were sent one by one: a few bytes cannot ask for much memory.
        int moved = in.number32("pages to move", 0, blocks * TokenLayout.BLOCK_PAGES);
        int[] pageIds = new int[moved];
        int count = 0;
        while (count < moved) {
            in.require(RUN_BYTES);
            int first = in.number32("page id", 0, Integer.MAX_VALUE);
            int length = in.number32("run of page ids", 1, moved - count);
            if (first > Integer.MAX_VALUE - length) {
                throw in.malformed("a run of " + length + " page ids starts at " + first);
            }
            for (int i = 0; i < length; i++) {
                pageIds[count++] = first + i;
            }
        }
        return pageIds;
    }

    private static Result result(MessageReader in) {
        return new Result(in.number64(), in.count64("checked pages"), in.count64("corrupted pages"));
    }

    private static Refused refused(MessageReader in) {
        RefusalReason reason = RefusalReason.of(in.number8());
        return new Refused(reason, in.text("text"));
    }
}
