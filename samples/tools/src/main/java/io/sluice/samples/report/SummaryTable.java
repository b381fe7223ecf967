package io.sluice.samples.report;

import java.util.Locale;

/** A summary for people: a row for each figure, its label and its value. */
public final class SummaryTable {
    private final StringBuilder text = new StringBuilder();

    public SummaryTable() {}

    public SummaryTable row(String label, String value) {
        text.append(String.format(Locale.ROOT, "%-20s %s\n", label, value));
        return this;
    }

    public SummaryTable row(String label, long value) {
        return row(label, count(value));
    }

    public SummaryTable row(String label, String format, double value) {
        return row(label, String.format(Locale.ROOT, format, value));
    }

    /** A whole number with separators. */
    public static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    /** A number of bytes, exactly and in the largest unit that fits. */
    public static String bytes(long value) {
        return count(value) + " (" + ByteSize.format(value) + ")";
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
