package io.sluice.samples.report;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}; case doesn't matter. A number
 * without a unit is seconds.
 */
public final class DurationText {
    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*(ms|s|m|h|)");

    private DurationText() {}

    /**
     * The duration that a text stands for.
     *
     * @throws IllegalArgumentException if it stands for none, or for one that 64 bits of nanoseconds cannot hold (292
     *     years); the message says so
     */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no duration: give a whole number of seconds,"
                    + " or one with a unit, such as 500ms, 30s, 5m or 1h");
        }
        try {
            long count = Long.parseLong(matcher.group(1));
            Duration duration = switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(count);
                case "s", "" -> Duration.ofSeconds(count);
                case "m" -> Duration.ofMinutes(count);
                default -> Duration.ofHours(count);
            };
            // Waits count in nanoseconds.
            if (duration.toNanos() < 0) {
                throw new ArithmeticException("negative");
            }
            return duration;
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("'" + text + "' is too long: at most 292 years", e);
        }
    }
}
