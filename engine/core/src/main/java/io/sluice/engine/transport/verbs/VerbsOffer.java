package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * One endpoint's offer to the other in the bootstrap.
 *
 * @param credits the most messages in flight on a lane
 * @param rails the ports
 * @param lanes the queue pairs
 * @param devices whether its side knows keys of device memory, and asks for its flush
 */
record VerbsOffer(int credits, List<OfferedRail> rails, List<OfferedLane> lanes, boolean devices) {
    private static final byte VERSION = 1;
    private static final int MAX_RAILS = 16;
    private static final int MAX_LANES = 16;
    private static final int RAIL_BYTES = Gid.BYTES + 4 + 4 + 1 + 1 + 8 + 4;
    private static final int DEVICES = 1;
    private static final int LANE_BYTES = 1 + 4 + 4;

    /**
     * A port.
     *
     * @param gid its address
     * @param lid its local identifier
     * @param mtu the largest path MTU that its side wants, in bytes
     * @param ethernet whether it is RoCE
     * @param readDepth how many reads and atomic operations a queue pair answers at a time
     * @param flushWord the address of memory that the peer may read
     * @param flushWordKey its remote key
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record OfferedRail(
            byte[] gid, int lid, int mtu, boolean ethernet, int readDepth, long flushWord, int flushWordKey) {}

    /**
     * A queue pair.
     *
     * @param rail the index of its port
     * @param number its number
     * @param sequence its first packet sequence number
     */
    record OfferedLane(int rail, int number, int sequence) {}

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(
                        1 + 2 + 2 + 1 + 1 + rails.size() * RAIL_BYTES + lanes.size() * LANE_BYTES + 1)
                .put(VERSION)
                .putShort((short) credits)
                .putShort((short) VerbsMessage.BYTES)
                .put((byte) rails.size())
                .put((byte) lanes.size());
        for (OfferedRail rail : rails) {
            bytes.put(rail.gid())
                    .putInt(rail.lid())
                    .putInt(rail.mtu())
                    .put((byte) (rail.ethernet() ? 1 : 0))
                    .put((byte) rail.readDepth())
                    .putLong(rail.flushWord())
                    .putInt(rail.flushWordKey());
        }
        for (OfferedLane lane : lanes) {
            bytes.put((byte) lane.rail()).putInt(lane.number()).putInt(lane.sequence());
        }
        return bytes.put((byte) (devices ? DEVICES : 0)).array();
    }

    /**
     * Parses the peer's offer, to which a later version may append.
     *
     * @throws ProtocolException if it is malformed
     */
    static VerbsOffer read(byte[] offer) {
        ByteBuffer bytes = ByteBuffer.wrap(offer);
        if (bytes.remaining() < 7 || bytes.get() < VERSION) {
            throw damaged();
        }
        int credits = Short.toUnsignedInt(bytes.getShort());
        int messageBytes = Short.toUnsignedInt(bytes.getShort());
        int railCount = bytes.get();
        int laneCount = bytes.get();
        if (railCount < 1
                || railCount > MAX_RAILS
                || laneCount < 1
                || laneCount > MAX_LANES
                || credits < 4
                || messageBytes < VerbsMessage.BYTES
                || bytes.remaining() < railCount * RAIL_BYTES + laneCount * LANE_BYTES) {
            throw damaged();
        }
        List<OfferedRail> rails = new ArrayList<>();
        for (int i = 0; i < railCount; i++) {
            byte[] gid = new byte[Gid.BYTES];
            bytes.get(gid);
            rails.add(new OfferedRail(
                    gid,
                    bytes.getInt(),
                    bytes.getInt(),
                    bytes.get() != 0,
                    Byte.toUnsignedInt(bytes.get()),
                    bytes.getLong(),
                    bytes.getInt()));
        }
        List<OfferedLane> lanes = new ArrayList<>();
        for (int i = 0; i < laneCount; i++) {
            OfferedLane lane = new OfferedLane(bytes.get(), bytes.getInt(), bytes.getInt());
            if (lane.rail() < 0 || lane.rail() >= railCount) {
                throw damaged();
            }
            lanes.add(lane);
        }
        // an earlier version ends here
        int flags = bytes.hasRemaining() ? bytes.get() : 0;
        return new VerbsOffer(credits, rails, lanes, (flags & DEVICES) != 0);
    }

    private static ProtocolException damaged() {
        return new ProtocolException("the peer's verbs offer is damaged");
    }
}
