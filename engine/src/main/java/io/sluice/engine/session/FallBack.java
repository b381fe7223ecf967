package io.sluice.engine.session;

import java.util.ArrayList;
import java.util.List;
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
     * @return why the connection takes what it takes, in a sentence
     */
    static String log(Transports own, OpenTransport chosen, String peer, FieldReader fields) {
        List<String> reasons = new ArrayList<>();
        boolean lacks = false;
        List<String> peers = List.of(text(fields, Tag.TRANSPORTS).split(","));
        for (OpenTransport better : own.all()) {
            if (better.equals(chosen)) {
                break;
            }
            String outOfReach = Transports.whyOutOfReach(better, Transports.reachOf(fields));
            if (!peers.contains(better.name())) {
                lacks = true;
                String lacking = text(fields, Tag.TRANSPORTS_LACKING);
                reasons.add(better.name() + " is not offered by the peer"
                        + (lacking.isEmpty() ? "" : " (" + lacking + ")"));
            } else {
                reasons.add(better.name() + " is out of reach: "
                        + (outOfReach == null ? "an attempt has failed" : outOfReach));
            }
        }
        if (own.lacksAnyOf(peers)) {
            lacks = true;
            reasons.add(own.lacking());
        }
        String because = reasons.isEmpty() ? "the best that both engines have" : String.join("; ", reasons);
        if (lacks) {
            LOG.info("the connection with {} takes {}: {}", peer, chosen.name(), because);
        } else {
            LOG.debug("the connection with {} takes {}: {}", peer, chosen.name(), because);
        }
        return because;
    }

    private static String text(FieldReader fields, int tag) {
        byte[] value = fields.optional(tag);
        return value == null ? "" : PeerText.read(value);
    }
}
