package io.sluice.engine.bootstrap;

import io.sluice.engine.ProtocolException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The endpoints' offers in a bootstrap message: that of the first path has a field of its own, those of the others share one. */
final class PathOffers {
    private PathOffers() {}

    static FieldWriter write(FieldWriter fields, List<byte[]> offers) {
        fields.put(Tag.OFFER, offers.getFirst());
        if (offers.size() == 1) {
            return fields;
        }
        ByteArrayOutputStream others = new ByteArrayOutputStream();
        for (byte[] offer : offers.subList(1, offers.size())) {
            others.writeBytes(
                    ByteBuffer.allocate(2).putShort((short) offer.length).array());
            others.writeBytes(offer);
        }
        return fields.put(Tag.PATH_OFFERS, others.toByteArray());
    }

    /**
     * Reads the peer's.
     *
     * @param count how many paths there are
     * @throws ProtocolException if there are not as many offers
     */
    static List<byte[]> read(FieldReader fields, int count) {
        List<byte[]> offers = new ArrayList<>();
        offers.add(fields.bytes(Tag.OFFER));
        if (count > 1) {
            ByteBuffer others = ByteBuffer.wrap(fields.bytes(Tag.PATH_OFFERS));
            while (others.remaining() >= 2 && offers.size() < count) {
                byte[] offer = new byte[Math.min(Short.toUnsignedInt(others.getShort()), others.remaining())];
                others.get(offer);
                offers.add(offer);
            }
            if (offers.size() < count || others.hasRemaining()) {
                throw new ProtocolException("the offers of the connection's paths are damaged");
            }
        }
        return offers;
    }
}
