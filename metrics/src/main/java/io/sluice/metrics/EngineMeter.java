package io.sluice.metrics;

import org.jspecify.annotations.Nullable;

/** The meters that {@link EngineMeters} registers: the one place where their names and meanings stand. */
public enum EngineMeter {
    /** Operations that ended, each element of a vectored transfer counted; tags {@code operation} and {@code outcome}. */
    OPERATIONS("sluice.operations", null, "Operations that ended"),
    /** Bytes that this engine's successful operations moved; tag {@code operation}. */
    BYTES("sluice.bytes", "bytes", "Bytes moved by this engine's successful operations"),
    /** Bytes that peers wrote into, or read out of, this engine's regions; tag {@code operation}. */
    SERVED_BYTES("sluice.served.bytes", "bytes", "Bytes that peers moved into and out of this engine's regions"),
    /** Requests of peers that were refused. */
    REFUSED("sluice.refused", null, "Requests of peers that were refused"),
    /** Operations in flight over all connections. */
    IN_FLIGHT_OPERATIONS("sluice.in.flight.operations", null, "Operations in flight"),
    /** The most operations that may be in flight over all connections. */
    IN_FLIGHT_OPERATIONS_LIMIT("sluice.in.flight.operations.limit", null, "The most operations in flight"),
    /** Bytes in flight over all connections. */
    IN_FLIGHT_BYTES("sluice.in.flight.bytes", "bytes", "Bytes in flight"),
    /** The most bytes that may be in flight over all connections. */
    IN_FLIGHT_BYTES_LIMIT("sluice.in.flight.bytes.limit", "bytes", "The most bytes in flight"),
    /** Transfers submitted and not ended. */
    PENDING("sluice.pending", null, "Transfers submitted and not ended"),
    /** Connections open now. */
    CONNECTIONS("sluice.connections", null, "Connections open"),
    /** Connections that were lost. */
    CONNECTIONS_LOST("sluice.connections.lost", null, "Connections that were lost"),
    /** Regions open now. */
    REGIONS("sluice.regions", null, "Regions open"),
    /** Bytes of the regions open now. */
    REGION_BYTES("sluice.region.bytes", "bytes", "Bytes of the open regions"),
    /** Bytes that registrations lock in memory now, once for each adapter. */
    LOCKED_BYTES("sluice.locked.bytes", "bytes", "Bytes that registrations lock in memory, once for each adapter"),
    /** Duty cycles of the pollers; tag {@code found}: {@code work} or {@code nothing}. */
    POLLS("sluice.poller.polls", null, "Duty cycles of the pollers"),
    /** Duty cycles held up by a callback. */
    STALLS("sluice.poller.stalls", null, "Duty cycles held up for longer than the stall threshold");

    private final String meterName;
    private final String unit;
    private final String description;

    EngineMeter(String meterName, @Nullable String unit, String description) {
        this.meterName = meterName;
        this.unit = unit == null ? "" : unit;
        this.description = description;
    }

    /**
     * The meter's name, with dots.
     *
     * @return as a registry's naming convention starts from
     */
    public String meterName() {
        return meterName;
    }

    /**
     * The base unit.
     *
     * @return {@code bytes}, or empty for a count
     */
    public String unit() {
        return unit;
    }

    /**
     * What it means.
     *
     * @return one line
     */
    public String description() {
        return description;
    }
}
