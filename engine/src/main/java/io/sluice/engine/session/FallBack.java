package io.sluice.engine.session;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says why a connection takes a lesser transport than this engine could have had, or than its peer could. */
final class FallBack {
    private static final Logger LOG = LoggerFactory.getLogger(FallBack.class);

    private FallBack() {}

    /**
     * Says it, if there is something to say.
     *
     * @param own this engine's
     * @param chosen what both have
     * @param peer its name for the log
     * @param fields the peer's first message
     */
    static void log(Transports own, @Nullable OpenTransport chosen, String peer, FieldReader fields) {
        if (chosen == null) {
            return;
        }
        String peers = text(fields, Tag.TRANSPORTS_LACKING);
        if (chosen.index() > 0) {
            LOG.info(
                    "the connection with {} takes {}, not {}: the peer does not have it{}",
                    peer,
                    chosen.name(),
                    own.names().iterator().next(),
                    peers.isEmpty() ? "" : " (" + peers + ")");
        } else if (own.lacksAnyOf(List.of(text(fields, Tag.TRANSPORTS).split(",")))) {
            LOG.info("the connection with {} takes {}: {}", peer, chosen.name(), own.lacking());
        }
    }

    private static String text(FieldReader fields, int tag) {
        byte[] value = fields.optional(tag);
        return value == null ? "" : PeerText.read(value);
    }
}
