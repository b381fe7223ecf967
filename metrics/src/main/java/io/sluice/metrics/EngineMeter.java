package io.sluice.metrics;

import java.util.List;

/**
 * The meters that {@link EngineMeters}, {@link TeamMeters} and {@link ExpertMeters} register, with their names and meanings.
 * Each has the tag {@code engine} in addition to its own.
 */
public enum EngineMeter implements ExportedMeter {
    /** Operations that ended. */
    TRANSFER_OPERATIONS(
            "sluice.transfer.operations",
            Type.COUNTER,
            "",
            "Operations that ended; each element of a vectored transfer counts",
            "operation",
            "transport",
            "outcome"),
    /** Logical bytes of the operations that ended. */
    TRANSFER_BYTES(
            "sluice.transfer.bytes",
            Type.COUNTER,
            "bytes",
            "Logical bytes of those operations, except notifications, which move none between regions; for another"
                    + " outcome than success the bytes requested",
            "operation",
            "transport",
            "outcome"),
    /** Bytes on the wire. */
    WIRE_BYTES(
            "sluice.wire.bytes",
            Type.COUNTER,
            "bytes",
            "Bytes on the transport's data path, including framing and bytes sent again; direction is sent"
                    + " or received",
            "transport",
            "direction"),
    /** How long successful operations took. */
    TRANSFER_DURATION(
            "sluice.transfer.duration",
            Type.HISTOGRAM,
            "seconds",
            "Of each successful operation: from the submission of its transfer, or the event it starts after, to its"
                    + " end",
            "operation",
            "transport"),
    /** How long successful operations waited. */
    TRANSFER_CREDIT_WAIT(
            "sluice.transfer.credit.wait",
            Type.HISTOGRAM,
            "seconds",
            "Of each successful operation: from the submission of its transfer, or the event it starts after, until it"
                    + " was posted (credits, order, the endpoint's room)",
            "operation",
            "transport"),
    /** How long successful operations were posted. */
    TRANSFER_COMPLETION(
            "sluice.transfer.completion",
            Type.HISTOGRAM,
            "seconds",
            "Of each successful operation: from the first chunk that was posted to the last completion",
            "operation",
            "transport"),
    /** Operations that ended with an error. */
    TRANSFER_ERRORS(
            "sluice.transfer.errors",
            Type.COUNTER,
            "",
            "Operations that ended with an error or by their deadline, by kind of error",
            "kind",
            "transport"),
    /** Operations in flight. */
    IN_FLIGHT_OPERATIONS("sluice.in.flight.operations", Type.GAUGE, "", "Operations in flight over all connections"),
    /** The most operations in flight. */
    IN_FLIGHT_OPERATIONS_LIMIT(
            "sluice.in.flight.operations.limit", Type.GAUGE, "", "The most operations that may be in flight"),
    /** Bytes in flight. */
    IN_FLIGHT_BYTES("sluice.in.flight.bytes", Type.GAUGE, "bytes", "Bytes in flight over all connections"),
    /** The most bytes in flight. */
    IN_FLIGHT_BYTES_LIMIT("sluice.in.flight.bytes.limit", Type.GAUGE, "", "The most bytes that may be in flight"),
    /** Transfers submitted and not ended. */
    PENDING("sluice.pending", Type.GAUGE, "", "Transfers submitted and not ended"),
    /** The most transfers pending. */
    PENDING_LIMIT("sluice.pending.limit", Type.GAUGE, "", "The sum of maxPending over the open connections"),
    /** Submissions refused. */
    PENDING_OVERFLOW(
            "sluice.pending.overflow", Type.COUNTER, "", "Submissions refused because too many transfers were pending"),
    /** Work requests posted. */
    CHUNKS("sluice.chunks", Type.COUNTER, "", "Work requests posted", "transport"),
    /** Work requests posted again. */
    CHUNKS_RESENT("sluice.chunks.resent", Type.COUNTER, "", "Work requests posted again behind a fence", "transport"),
    /** Fences. */
    FENCES("sluice.fences", Type.COUNTER, "", "Fences that were waited for", "transport"),
    /** Work requests posted and not completed. */
    QUEUE_DEPTH("sluice.queue.depth", Type.GAUGE, "", "Work requests posted and not completed", "transport"),
    /** Bytes that peers moved here. */
    SERVED_BYTES(
            "sluice.served.bytes",
            Type.COUNTER,
            "bytes",
            "Bytes that peers moved into (write) and out of (read) this engine's regions, where the target takes part",
            "operation",
            "transport"),
    /** Requests of peers that were refused. */
    SERVED_REFUSED("sluice.served.refused", Type.COUNTER, "", "Requests of peers that were refused", "transport"),
    /** Sockets of peers that were refused. */
    HANDSHAKES_REFUSED(
            "sluice.handshakes.refused",
            Type.COUNTER,
            "",
            "Sockets that peers opened and that became neither connections nor lanes, by reason",
            "reason"),
    /** Sockets of peers that are neither connections nor lanes yet. */
    HALF_OPEN(
            "sluice.half.open",
            Type.GAUGE,
            "",
            "Sockets that peers have opened and that are not connections or lanes yet"),
    /** Open regions. */
    REGIONS("sluice.regions", Type.GAUGE, "", "Open regions"),
    /** Bytes of the open regions. */
    REGION_BYTES("sluice.region.bytes", Type.GAUGE, "bytes", "Bytes of the open regions"),
    /** Bytes that registrations lock. */
    LOCKED_BYTES(
            "sluice.locked.bytes",
            Type.GAUGE,
            "bytes",
            "Bytes that registrations lock in memory, once for each adapter"),
    /** The process's limit of locked memory. */
    LOCKED_BYTES_LIMIT(
            "sluice.locked.bytes.limit",
            Type.GAUGE,
            "",
            "The process's limit of locked memory, in bytes; +Inf if there is none"),
    /** Connections by state. */
    CONNECTIONS(
            "sluice.connections",
            Type.GAUGE,
            "",
            "Connections open now (state open), and peers lost recently that have no other connection (state lost)",
            "transport",
            "state"),
    /** Connections established. */
    CONNECTIONS_OPENED("sluice.connections.opened", Type.COUNTER, "", "Connections established", "transport"),
    /** Connections lost. */
    CONNECTIONS_LOST("sluice.connections.lost", Type.COUNTER, "", "Connections lost", "transport"),
    /** Connections established again. */
    CONNECTIONS_RECONNECTED(
            "sluice.connections.reconnected",
            Type.COUNTER,
            "",
            "Connections established to a peer that had been lost",
            "transport"),
    /** Lanes by state. */
    LANES("sluice.lanes", Type.GAUGE, "", "Lanes of open connections: up, healing or down", "transport", "state"),
    /** Rails by state. */
    RAILS("sluice.rails", Type.GAUGE, "", "Rails of open connections: up or down", "transport", "state"),
    /** Heartbeat intervals of silence. */
    HEARTBEATS_MISSED(
            "sluice.heartbeats.missed",
            Type.COUNTER,
            "",
            "Heartbeat intervals without a message from the peer",
            "transport"),
    /** Notifications received. */
    NOTIFICATIONS_RECEIVED(
            "sluice.notifications.received", Type.COUNTER, "", "Notifications that peers have sent", "transport"),
    /** Notifications that peers accept. */
    NOTIFICATION_CREDITS(
            "sluice.notification.credits", Type.GAUGE, "", "Notifications that peers accept now", "transport"),
    /** Notifications that wait. */
    NOTIFICATIONS_WAITING(
            "sluice.notifications.waiting",
            Type.GAUGE,
            "",
            "Notifications that wait for credits or for earlier operations",
            "transport"),
    /** Duty cycles. */
    POLLER_POLLS(
            "sluice.poller.polls",
            Type.COUNTER,
            "",
            "Duty cycles of the pollers; found is work or nothing",
            "poller",
            "found"),
    /** Work completions. */
    POLLER_COMPLETIONS("sluice.poller.completions", Type.COUNTER, "", "Work completions", "poller"),
    /** Time with work. */
    POLLER_BUSY(
            "sluice.poller.busy",
            Type.COUNTER,
            "seconds",
            "Time of the duty cycles that found work; its rate is the busy share",
            "poller"),
    /** Duty cycles that took too long. */
    POLLER_STALLS(
            "sluice.poller.stalls",
            Type.COUNTER,
            "",
            "Duty cycles that took longer than the stall threshold",
            "poller"),
    /** A port's own counters. */
    PORT_EVENTS(
            "sluice.port.events",
            Type.COUNTER,
            "",
            "The counters of the port, by the driver's names, if the device has any",
            "device",
            "port",
            "counter"),
    /** Work given to a device. */
    DEVICE_LAUNCHES(
            "sluice.device.launches",
            Type.COUNTER,
            "",
            "Launches of kernels, or copies, that a GPU was given; unit is kernel, copy_engine or staged",
            "device",
            "unit"),
    /** Bytes given to a device. */
    DEVICE_BYTES(
            "sluice.device.bytes",
            Type.COUNTER,
            "bytes",
            "Bytes that a GPU was given to move by its kernels or copy engines, or to stage in the host for another transport",
            "device",
            "unit"),
    /** Time of requests on a device. */
    DEVICE_DURATION(
            "sluice.device.duration",
            Type.TIMER,
            "seconds",
            "Count and sum of the times of requests on a GPU, their wait there included",
            "device"),
    /** Memory of a device. */
    DEVICE_MEMORY(
            "sluice.device.memory",
            Type.GAUGE,
            "bytes",
            "Memory that the engine has allocated on a GPU, or pinned on the host for it; kind is allocated or pinned",
            "device",
            "kind"),
    /** Collectives that ended. */
    COLLECTIVE_OPERATIONS(
            "sluice.collective.operations",
            Type.COUNTER,
            "",
            "Collectives that ended on this rank; outcome is success or error",
            "team",
            "rank",
            "kind",
            "algorithm",
            "outcome"),
    /** The size of collectives. */
    COLLECTIVE_BYTES(
            "sluice.collective.bytes",
            Type.COUNTER,
            "bytes",
            "Size of the successful ones: a rank's elements, or the blocks of all ranks",
            "team",
            "rank",
            "kind",
            "algorithm"),
    /** What collectives must move. */
    COLLECTIVE_BUS_BYTES(
            "sluice.collective.bus.bytes",
            Type.COUNTER,
            "bytes",
            "What a rank's link must carry for those; over their duration it is the bus bandwidth",
            "team",
            "rank",
            "kind",
            "algorithm"),
    /** How long collectives took. */
    COLLECTIVE_DURATION(
            "sluice.collective.duration",
            Type.HISTOGRAM,
            "seconds",
            "Of each of those: from the call to the end",
            "team",
            "rank",
            "kind",
            "algorithm"),
    /** What the time of collectives was spent on. */
    COLLECTIVE_TIME(
            "sluice.collective.time",
            Type.COUNTER,
            "seconds",
            "Parts of the durations: queued before the first step, waiting for other ranks, or moving bytes",
            "team",
            "rank",
            "kind",
            "algorithm",
            "part"),
    /** Waiting for a rank. */
    COLLECTIVE_PEER_WAIT(
            "sluice.collective.peer.wait",
            Type.COUNTER,
            "seconds",
            "How long this rank has waited for the awaited one",
            "team",
            "rank",
            "awaited"),
    /** Who came last. */
    COLLECTIVE_LAST_ARRIVALS(
            "sluice.collective.last.arrivals",
            Type.COUNTER,
            "",
            "Collectives in which this rank has waited for the awaited one last",
            "team",
            "rank",
            "awaited"),
    /** Ranks that are there. */
    COLLECTIVE_RANKS(
            "sluice.collective.ranks", Type.GAUGE, "", "Ranks not known to be lost or to have left", "team", "rank"),
    /** Calls on expert buffers that ended. */
    EXPERT_CALLS(
            "sluice.expert.calls",
            Type.COUNTER,
            "",
            "Dispatches and combines that ended on this rank; outcome is success or error",
            "team",
            "rank",
            "kind",
            "outcome"),
    /** Vectors that these have moved. */
    EXPERT_TOKENS(
            "sluice.expert.tokens",
            Type.COUNTER,
            "",
            "Vectors of the successful ones, those that stay on this rank as well; direction is sent or received",
            "team",
            "rank",
            "kind",
            "direction"),
    /** Bytes of those. */
    EXPERT_BYTES(
            "sluice.expert.bytes",
            Type.COUNTER,
            "bytes",
            "Bytes of those vectors with what travels along",
            "team",
            "rank",
            "kind",
            "direction"),
    /** How long these took. */
    EXPERT_DURATION(
            "sluice.expert.duration",
            Type.HISTOGRAM,
            "seconds",
            "Of each of those: from the call to the end, except while its hook holds it",
            "team",
            "rank",
            "kind"),
    /** How their time was spent. */
    EXPERT_TIME(
            "sluice.expert.time",
            Type.COUNTER,
            "seconds",
            "Parts of the durations: queued behind earlier calls, waiting for other ranks, or moving bytes",
            "team",
            "rank",
            "kind",
            "part"),
    /** Waiting for a rank. */
    EXPERT_PEER_WAIT(
            "sluice.expert.peer.wait",
            Type.COUNTER,
            "seconds",
            "How long this rank has waited for the awaited one",
            "team",
            "rank",
            "awaited"),
    /** Who came last. */
    EXPERT_LAST_ARRIVALS(
            "sluice.expert.last.arrivals",
            Type.COUNTER,
            "",
            "Calls in which this rank has waited for the awaited one last",
            "team",
            "rank",
            "awaited"),
    /** Tokens of an expert. */
    EXPERT_LOAD(
            "sluice.expert.load",
            Type.COUNTER,
            "",
            "Tokens that dispatches have brought to the expert",
            "team",
            "rank",
            "expert"),
    /** Tokens of the busiest expert. */
    EXPERT_BUSIEST_LOAD(
            "sluice.expert.busiest.load",
            Type.COUNTER,
            "",
            "Tokens of the rank's busiest expert in each dispatch, added up; over the mean load it is the skew",
            "team",
            "rank"),
    /** Operations with a peer. */
    PEER_OPERATIONS("sluice.peer.operations", Type.COUNTER, "", "Successful operations with the peer", "peer"),
    /** Bytes of a peer. */
    PEER_BYTES("sluice.peer.bytes", Type.COUNTER, "bytes", "Bytes of the successful operations with the peer", "peer"),
    /** Errors with a peer. */
    PEER_ERRORS(
            "sluice.peer.errors",
            Type.COUNTER,
            "",
            "Operations with the peer that ended with an error or by their deadline, without those submitted after a"
                    + " connection's end",
            "peer"),
    /** How long operations with a peer took. */
    PEER_DURATION(
            "sluice.peer.duration",
            Type.TIMER,
            "seconds",
            "Count and sum of the durations of successful operations with the peer",
            "peer"),
    /** Operations in flight to a peer. */
    PEER_IN_FLIGHT_OPERATIONS(
            "sluice.peer.in.flight.operations", Type.GAUGE, "", "Operations in flight to the peer", "peer"),
    /** Transfers pending with a peer. */
    PEER_PENDING("sluice.peer.pending", Type.GAUGE, "", "Transfers submitted to the peer and not ended", "peer"),
    /** Silence of a peer. */
    PEER_SILENCE(
            "sluice.peer.silence",
            Type.GAUGE,
            "seconds",
            "Time since the last message from the peer; of several peers the longest",
            "peer");

    /** The kind of the meter. */
    public enum Type {
        /** A count that only grows. */
        COUNTER("counter"),
        /** A current value. */
        GAUGE("gauge"),
        /** True cumulative buckets in a Prometheus registry, a function timer (count and sum) in others. */
        HISTOGRAM("histogram"),
        /** A function timer: count and sum. */
        TIMER("function timer");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        /** Returns the name used in documents. */
        @Override
        public String toString() {
            return text;
        }
    }

    /** The tag for the engine, which every meter has. */
    public static final String ENGINE_TAG = "engine";

    private static final String PEER_PREFIX = "sluice.peer.";
    private static final String TEAM_PREFIX = "sluice.collective.";
    private static final String EXPERT_PREFIX = "sluice.expert.";

    private final String meterName;
    private final Type type;
    private final String unit;
    private final String description;
    private final List<String> tags;

    EngineMeter(String meterName, Type type, String unit, String description, String... tags) {
        this.meterName = meterName;
        this.type = type;
        this.unit = unit;
        this.description = description;
        this.tags = List.of(tags);
    }

    @Override
    public String meterName() {
        return meterName;
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public String unit() {
        return unit;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<String> tags() {
        return tags;
    }

    /**
     * Returns whether there is one for each peer, enabled by {@link EngineMeters.Builder#peers(int)}.
     *
     * @return true for the meters of peers
     */
    public boolean isOfPeers() {
        return meterName.startsWith(PEER_PREFIX);
    }

    /**
     * Returns whether it is one of those that {@link TeamMeters} registers.
     *
     * @return true for the meters of teams
     */
    public boolean isOfTeams() {
        return meterName.startsWith(TEAM_PREFIX);
    }

    /**
     * Returns whether it is one of those that {@link ExpertMeters} registers.
     *
     * @return true for the meters of experts
     */
    public boolean isOfExperts() {
        return meterName.startsWith(EXPERT_PREFIX);
    }
}
