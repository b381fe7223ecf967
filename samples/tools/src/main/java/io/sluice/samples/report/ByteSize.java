package io.sluice.samples.report;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes in bytes as people write them: {@code 8}, {@code 4KiB}, {@code 64MB}. Binary units are powers of 1,024, decimal
 * ones powers of 1,000; case doesn't matter. A bare {@code K}, {@code M} or {@code G} is refused, because it means
 * either to different people.
 */
public final class ByteSize {
    private static final String FORMS =
            "a whole number of bytes, or one followed by B, KiB, MiB, GiB, TiB (powers of 1024) or KB, MB, GB, TB"
                    + " (powers of 1000), such as 8, 4KiB or 64MB";

    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*([a-z]*)");

    private static final Map<String, Long> UNITS = Map.of(
            "", 1L,
            "b", 1L,
            "kib", 1L << 10,
            "mib", 1L << 20,
            "gib", 1L << 30,
            "tib", 1L << 40,
            "kb", 1_000L,
            "mb", 1_000_000L,
            "gb", 1_000_000_000L,
            "tb", 1_000_000_000_000L);

    private static final int TENTHS = 10;

    private static final String[] BINARY_UNITS = {"TiB", "GiB", "MiB", "KiB"};

    private ByteSize() {}

    /**
     * The number of bytes that a text stands for.
     *
     * @throws IllegalArgumentException if it stands for none; the message lists the accepted forms
     */
    public static long parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no size: give " + FORMS);
        }
        Long unit = UNITS.get(matcher.group(2));
        if (unit == null) {
            throw new IllegalArgumentException("'" + text + "' has no known unit: give " + FORMS);
        }
        try {
            return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("'" + text + "' is too large: at most " + Long.MAX_VALUE + " bytes", e);
        }
    }

    /** A size in the largest binary unit of which it has at least one, with one decimal unless it is whole. */
    public static String format(long bytes) {
        for (String unit : BINARY_UNITS) {
            long size = UNITS.getOrDefault(unit.toLowerCase(Locale.ROOT), 1L);
            if (bytes >= size) {
                return (bytes % size == 0 ? Long.toString(bytes / size) : oneDecimal((double) bytes / size)) + " "
                        + unit;
            }
        }
        return bytes + " B";
    }

    /** Without {@link java.util.Formatter}, for which the JVM loads what it knows of languages: that takes longer than all else. */
    private static String oneDecimal(double size) {
        long tenths = Math.round(size * TENTHS);
        return tenths / TENTHS + "." + tenths % TENTHS;
    }
}
