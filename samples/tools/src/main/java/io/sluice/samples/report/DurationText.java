package io.sluice.samples.report;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Durations as people write them: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}; case doesn't matter. A number
 * without a unit is seconds. As a converter it gives an option its value as a {@link Duration}.
 */
public final class DurationText implements ITypeConverter<Duration> {

    private static final String FORMS = "a whole number of seconds, or one with a unit, such as 500ms, 30s, 5m or 1h";
    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*(ms|s|m|h|)");

    /** A converter for options that take a duration. */
    public DurationText() {}

    /**
     * The duration that a text stands for.
     *
     * @throws IllegalArgumentException if it stands for none, or for one that 64 bits of nanoseconds cannot hold (292
     *     years); the message says so
     */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no duration: give " + FORMS);
        }
        try {
            long count = Long.parseLong(matcher.group(1));
            Duration duration = switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(count);
                case "s", "" -> Duration.ofSeconds(count);
                case "m" -> Duration.ofMinutes(count);
                default -> Duration.ofHours(count);
            };
            // Whoever waits for it will count in nanoseconds.
            if (duration.toNanos() < 0) {
                throw new ArithmeticException("negative");
            }
            return duration;
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("'" + text + "' is too long: at most 292 years", e);
        }
    }

    @Override
    public Duration convert(String text) {
        try {
            return parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
