package io.sluice.engine.transport.verbs;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.Errno;
import io.sluice.jni.VerbsQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Connects a queue pair to its peer's. */
final class QueuePairPath {
    private QueuePairPath() {}

    /**
     * Makes a queue pair ready to receive and to send.
     *
     * @param queuePair the initialised queue pair
     * @param sequence its first packet sequence number
     * @param rail its rail
     * @param options the queue pair's attributes
     * @param peer the peer's port
     * @param number the number of the peer's queue pair
     * @param peerSequence the first packet sequence number of the peer
     * @throws ConnectFailedException if the peer cannot be reached; the message says what to do
     */
    static void connect(
            long queuePair,
            int sequence,
            Rail rail,
            VerbsOptions options,
            OfferedRail peer,
            int number,
            int peerSequence) {
        Port port = rail.port();
        if (port.ethernet() != peer.ethernet()) {
            throw new ConnectFailedException(rail + " is " + (port.ethernet() ? "RoCE" : "InfiniBand")
                    + " and the peer's port is not: choose devices of one fabric (SLUICE_VERBS_DEVICES)");
        }
        // both sides must compute the same value
        int mtu = Math.min(options.pathMtu(port), peer.mtu());
        boolean global = port.ethernet() || peer.lid() == 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocate(VerbsQueuePair.PATH_BYTES, Long.BYTES);
            put(path, VerbsQueuePair.PATH_MTU_BYTES_OFFSET, mtu);
            put(path, VerbsQueuePair.PATH_DESTINATION_QUEUE_PAIR_OFFSET, number);
            put(path, VerbsQueuePair.PATH_RECEIVE_SEQUENCE_OFFSET, peerSequence);
            put(
                    path,
                    VerbsQueuePair.PATH_MAX_READ_DEPTH_AS_TARGET_OFFSET,
                    Math.min(255, rail.limits().readDepthAsTarget()));
            put(path, VerbsQueuePair.PATH_MINIMUM_RNR_TIMER_OFFSET, options.minimumRnrTimer());
            put(path, VerbsQueuePair.PATH_PORT_OFFSET, port.number());
            put(path, VerbsQueuePair.PATH_SOURCE_GID_INDEX_OFFSET, rail.gid().index());
            put(path, VerbsQueuePair.PATH_HOP_LIMIT_OFFSET, options.hopLimit());
            put(path, VerbsQueuePair.PATH_TRAFFIC_CLASS_OFFSET, options.trafficClass());
            put(path, VerbsQueuePair.PATH_SERVICE_LEVEL_OFFSET, options.serviceLevel());
            put(path, VerbsQueuePair.PATH_DESTINATION_LID_OFFSET, peer.lid());
            put(path, VerbsQueuePair.PATH_IS_GLOBAL_OFFSET, global ? 1 : 0);
            MemorySegment.copy(
                    peer.gid(), 0, path, ValueLayout.JAVA_BYTE, VerbsQueuePair.PATH_DESTINATION_GID_OFFSET, Gid.BYTES);
            checked(VerbsQueuePair.readyToReceive(queuePair, path.address()), rail, peer);
        }
        int readDepth = Math.min(options.readDepth(), Math.min(rail.limits().readDepthAsInitiator(), peer.readDepth()));
        checked(
                VerbsQueuePair.readyToSend(
                        queuePair,
                        options.timeout(),
                        options.retries(),
                        options.rnrRetries(),
                        sequence,
                        Math.max(1, readDepth)),
                rail,
                peer);
    }

    private static void put(MemorySegment path, long offset, int value) {
        path.set(ValueLayout.JAVA_INT, offset, value);
    }

    private static void checked(int result, Rail rail, OfferedRail peer) {
        if (result < 0) {
            throw new ConnectFailedException(rail + " cannot connect to the peer's "
                    + new Gid(0, peer.gid(), 0) + ": " + Errno.message(-result)
                    + ". Is it on the same fabric, and is there a route to it from " + rail.gid()
                    + "? SLUICE_VERBS_DEVICES and SLUICE_VERBS_GID_INDEX choose others, and SLUICE_TRANSPORTS=tcp leaves"
                    + " verbs out");
        }
    }
}
