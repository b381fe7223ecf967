package io.sluice.samples.control;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonSubTypes.Type;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.sluice.engine.RegionDescriptor;
import io.sluice.samples.kvcache.BlockHashes;

/**
 * One message between a prefill and a decode process. The prefill side opens with {@link Hello}; after the answer,
 * {@link Welcome}, each request goes {@link Allocate}, {@link Pages}, the writes of its pages, {@link Last}, {@link
 * Result}.
 * {@link Refused} may take the place of any answer.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
    @Type(value = ControlMessage.Hello.class, name = "hello"),
    @Type(value = ControlMessage.Welcome.class, name = "welcome"),
    @Type(value = ControlMessage.Allocate.class, name = "allocate"),
    @Type(value = ControlMessage.Pages.class, name = "pages"),
    @Type(value = ControlMessage.Last.class, name = "last"),
    @Type(value = ControlMessage.Result.class, name = "result"),
    @Type(value = ControlMessage.Refused.class, name = "refused")
})
public sealed interface ControlMessage {
    /**
     * Prefill to decode: what it is going to move.
     *
     * @param pageBytes bytes of one page of one layer
     */
    record Hello(String model, int layers, int pageBytes) implements ControlMessage {}

    /**
     * Decode to prefill: where the pages go.
     *
     * @param slots page slots of each layer
     * @param seals their table of seals
     */
    record Welcome(int slots, RegionDescriptor pages, RegionDescriptor seals) implements ControlMessage {}

    /**
     * Prefill to decode: room for a request is wanted.
     *
     * @param requestId chosen by the prefill side, unique on the connection
     * @param blockHashes one hash for each of its blocks, the partial last one included
     */
    record Allocate(long requestId, int inputTokens, BlockHashes blockHashes) implements ControlMessage {}

    record Pages(long requestId, PageAssignment assignment) implements ControlMessage {}

    /**
     * Prefill to decode: the request's last page was written. As a notification comes after all earlier writes, all
     * pages are visible to the reader of this.
     */
    record Last(long requestId) implements ControlMessage {}

    /**
     * Decode to prefill: the request's pages were checked.
     *
     * @param checkedPages pages that were checked, over all layers
     * @param corruptedPages those whose seal did not match
     */
    record Result(long requestId, long checkedPages, long corruptedPages) implements ControlMessage {}

    /**
     * Decode to prefill: it cannot go on like this.
     *
     * @param text what happened and what to do, for people; cut where it is long, as it comes from exceptions
     */
    record Refused(RefusedException.RefusalReason reason, String text) implements ControlMessage {
        /** The most characters of a text. */
        static final int MAX_TEXT = 4096;

        /** With a text of any length. */
        public Refused {
            if (text.length() > MAX_TEXT) {
                int end = Character.isHighSurrogate(text.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
                text = text.substring(0, end);
            }
        }
    }
}
