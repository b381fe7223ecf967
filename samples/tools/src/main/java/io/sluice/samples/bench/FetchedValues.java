package io.sluice.samples.bench;

/** A set of values, told from others by a sum of what each is mixed to, in any order. */
final class FetchedValues {

    private long sum;

    void add(long value) {
        sum += Pattern.mix(value);
    }

    /** What so many additions of 1 must find, one after the other. */
    void addSuccessive(long first, long count) {
        for (long i = 0; i < count; i++) {
            add(first + i);
        }
    }

    boolean isSameAs(FetchedValues other) {
        return sum == other.sum;
    }

    /** Takes over what another one holds. */
    void set(FetchedValues other) {
        sum = other.sum;
    }
}
