package io.sluice.samples.compare;

import java.util.Arrays;

/** The quantity by which two measurements are compared. */
enum Quantity {
    /** Bytes moved in each second, in units of 10<sup>9</sup>. */
    GIGABYTES_PER_SECOND("GB/s", "%,.3f"),
    /** Bytes that memcpy moves in each second between the memory of the transfers, in units of 10<sup>9</sup>. */
    MEMCPY_GIGABYTES_PER_SECOND("GB/s", "%,.3f"),
    /** Transfers that ended in each second. */
    TRANSFERS_PER_SECOND("transfers/s", "%,.0f"),
    /** Elements of transfers that ended in each second. */
    ELEMENTS_PER_SECOND("elements/s", "%,.0f"),
    /** Bytes that passed the busiest link in each second, as nccl-tests counts them, in units of 10<sup>9</sup>. */
    BUS_GIGABYTES_PER_SECOND("bus GB/s", "%,.3f"),
    /** Bytes of the average rank's tokens that dispatch brings in each second, in units of 10<sup>9</sup>. */
    DISPATCH_GIGABYTES_PER_SECOND("dispatch GB/s", "%,.3f"),
    /** The same of combine. */
    COMBINE_GIGABYTES_PER_SECOND("combine GB/s", "%,.3f"),
    /** Collectives that ended in each second. */
    OPERATIONS_PER_SECOND("operations/s", "%,.0f"),
    /** Connections made, and closed, in each second. */
    CONNECTS_PER_SECOND("connects/s", "%,.0f"),
    /** The median transfer time, in microseconds. */
    MEDIAN_MICROSECONDS("us p50", "%,.2f"),
    /** The time of a collective among others that follow each other, by the clock of the GPU, in microseconds. */
    DEVICE_MICROSECONDS("us by device", "%,.2f"),
    /** The time of a dispatch among others that follow each other, by the clock of the GPU, in microseconds. */
    DEVICE_DISPATCH_MICROSECONDS("dispatch us by device", "%,.2f"),
    /** The same of a combine. */
    DEVICE_COMBINE_MICROSECONDS("combine us by device", "%,.2f"),
    /** The same of a dispatch and a combine after it, together. */
    DEVICE_ROUND_MICROSECONDS("round us by device", "%,.2f"),
    /** The 99th percentile of the transfer time divided by the median. */
    TAIL("p99/p50", "%,.2f"),
    /** Bytes that the initiator's pollers and callers allocate on the heap, for each transfer. */
    ALLOCATED_BYTES("B/transfer", "%,.2f"),
    /** Processor time of the initiator for 10<sup>9</sup> bytes, in seconds. */
    INITIATOR_SECONDS_PER_GIGABYTE("CPU s/GB", "%,.3f"),
    /** The same of the target. */
    TARGET_SECONDS_PER_GIGABYTE("CPU s/GB", "%,.3f"),
    /** From the start of a process to its end, in milliseconds. */
    LIFETIME_MILLISECONDS("ms", "%,.1f");

    private final String unit;
    private final String format;

    Quantity(String unit, String format) {
        this.unit = unit;
        this.format = format;
    }

    /** One of those with a unit, all of which have the same format. */
    static Quantity ofUnit(String unit) {
        return Arrays.stream(values())
                .filter(quantity -> quantity.unit.equals(unit))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("nothing is measured in " + unit));
    }

    boolean isPossible(double value) {
        return value > 0 || (value == 0 && this == ALLOCATED_BYTES);
    }

    String unit() {
        return unit;
    }

    String format() {
        return format;
    }
}
