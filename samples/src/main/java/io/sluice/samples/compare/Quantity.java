package io.sluice.samples.compare;

/** What two measurements are compared by. */
enum Quantity {
    /** Bytes moved in each second, in units of 10<sup>9</sup>. */
    GIGABYTES_PER_SECOND("GB/s", "%,.3f"),
    /** Transfers that ended in each second. */
    TRANSFERS_PER_SECOND("transfers/s", "%,.0f"),
    /** Elements of transfers that ended in each second. */
    ELEMENTS_PER_SECOND("elements/s", "%,.0f"),
    /** What half of the transfers took at most, in microseconds. */
    MEDIAN_MICROSECONDS("us p50", "%,.2f");

    private final String unit;
    private final String format;

    Quantity(String unit, String format) {
        this.unit = unit;
        this.format = format;
    }

    /** Its unit, for people and programs. */
    String unit() {
        return unit;
    }

    /** A format for figures of it. */
    String format() {
        return format;
    }
}
