package io.sluice.engine.bootstrap;

import io.sluice.engine.control.PeerText;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.providers.Transports;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a connection uses a less preferred transport than one of its engines has.
 *
 * @param transport the transport that it uses
 * @param because the reason, in a sentence
 * @param lacks whether the reason is that an engine lacks a transport
 */
record TransportFallback(String transport, String because, boolean lacks) {
    private static final Logger LOG = LoggerFactory.getLogger(TransportFallback.class);

    /**
     * Determines the reason.
     *
     * @param own this engine's transports
     * @param chosen the chosen transport
     * @param fields the peer's first message
     * @param severalPaths whether the peer supports several paths
     */
    static TransportFallback of(Transports own, OpenTransport chosen, FieldReader fields, boolean severalPaths) {
        List<String> reasons = new ArrayList<>();
        boolean lacks = false;
        List<String> peers = fields.optional(Tag.TRANSPORTS) == null ? List.of() : fields.names(Tag.TRANSPORTS);
        boolean preferred = true;
        for (OpenTransport better : own.all()) {
            if (better.equals(chosen)) {
                preferred = false;
                continue;
            }
            if (!preferred && better.transport().staged().isEmpty()) {
                continue;
            }
            String outOfReach = Transports.whyOutOfReach(better, reachOf(fields));
            if (!preferred) {
                // a device's, whose memory another one carries if this one does not
                if (peers.contains(better.name()) && outOfReach != null) {
                    reasons.add(better.name() + " is out of reach: " + outOfReach);
                }
            } else if (!peers.contains(better.name())) {
                lacks = true;
                String lacking = text(fields, Tag.TRANSPORTS_LACKING);
                reasons.add(better.name() + " is not offered by the peer"
                        + (lacking.isEmpty() ? "" : " (" + lacking + ")"));
            } else if (!severalPaths && Transports.isPartial(better)) {
                reasons.add(better.name() + " needs a second path, which the peer's version does not support");
            } else {
                reasons.add(better.name() + " is out of reach: "
                        + (outOfReach == null ? "an attempt has failed" : outOfReach));
            }
        }
        if (own.lacksAnyOf(peers)) {
            lacks = true;
            reasons.add(own.lacking());
        }
        return new TransportFallback(
                chosen.name(),
                reasons.isEmpty() ? "the best that both engines have" : String.join("; ", reasons),
                lacks);
    }

    /** Logs the reason, only for an authenticated peer, as others could fill the log. */
    void log(String peer) {
        if (lacks) {
            LOG.info("the connection to {} uses {}: {}", peer, transport, because);
        } else {
            LOG.debug("the connection to {} uses {}: {}", peer, transport, because);
        }
    }

    /** The reach of the peer's transports by its first message; empty if it has none. */
    static String reachOf(FieldReader fields) {
        byte[] lines = fields.optional(Tag.TRANSPORTS_REACH);
        return lines == null ? "" : PeerText.readLines(lines);
    }

    private static String text(FieldReader fields, int tag) {
        byte[] value = fields.optional(tag);
        return value == null ? "" : PeerText.read(value);
    }
}
