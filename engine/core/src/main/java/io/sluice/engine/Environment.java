package io.sluice.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads settings from environment variables, for the options of the engine and its transports. Each method passes the
 * variable's value to a setter if the variable is set. Every error is an {@link IllegalArgumentException} that names
 * the variable.
 */
public final class Environment {
    private static final Pattern QUANTITY = Pattern.compile("(\\d+)\\s*([a-zA-Zµ]*)");

    private final Map<String, String> variables;

    /**
     * Creates a reader of variables.
     *
     * @param variables the variables by name
     */
    public Environment(Map<String, String> variables) {
        this.variables = variables;
    }

    /** Whether a variable is set and not blank. */
    boolean has(String name) {
        String value = variables.get(name);
        return value != null && !value.isBlank();
    }

    /** Receives a host and a port. */
    interface Address {
        void set(String host, int port);
    }

    /**
     * Reads a text, without surrounding white space.
     *
     * @param name the variable's name
     * @param setter receives the value; its {@link IllegalArgumentException} is reported with the variable's name
     */
    public void text(String name, Consumer<String> setter) {
        String value = variables.get(name);
        if (value == null || value.isBlank()) {
            return;
        }
        try {
            setter.accept(value.strip());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new IllegalArgumentException("environment variable " + name + ": " + e.getMessage(), e);
        }
    }

    /** Reads a variable as {@link #text} does, but no error message contains its value. */
    void secret(String name, Consumer<byte[]> setter) {
        String value = variables.get(name);
        if (value != null && !value.isBlank()) {
            byte[] bytes = value.strip().getBytes(StandardCharsets.UTF_8);
            try {
                setter.accept(bytes);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("environment variable " + name + ": " + e.getMessage(), e);
            }
        }
    }

    /**
     * Reads a whole number.
     *
     * @param name the variable's name
     * @param setter receives the value
     */
    public void number(String name, IntConsumer setter) {
        text(name, value -> {
            try {
                setter.accept(Integer.parseInt(value));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("'" + value + "' is not a whole number", e);
            }
        });
    }

    /**
     * Reads a boolean: {@code true}, {@code yes}, {@code 1}, {@code false}, {@code no} or {@code 0}.
     *
     * @param name the variable's name
     * @param setter receives the value
     */
    public void flag(String name, Consumer<Boolean> setter) {
        text(name, value -> {
            switch (value.toLowerCase(Locale.ROOT)) {
                case "true", "yes", "1" -> setter.accept(true);
                case "false", "no", "0" -> setter.accept(false);
                default -> throw new IllegalArgumentException("'" + value + "' is neither true nor false");
            }
        });
    }

    /**
     * Reads a size in bytes, such as {@code 4194304}, {@code 512KiB} or {@code 4MiB}.
     *
     * @param name the variable's name
     * @param setter receives the bytes
     */
    public void size(String name, LongConsumer setter) {
        text(name, value -> setter.accept(bytes(value)));
    }

    void time(String name, Consumer<Duration> setter) {
        text(name, value -> setter.accept(duration(value)));
    }

    void address(String name, Address setter, @Nullable Runnable none) {
        text(name, value -> {
            if (none != null && value.equals("none")) {
                none.run();
                return;
            }
            HostAndPort address = HostAndPort.parse(value);
            setter.set(address.host(), address.port());
        });
    }

    private static long bytes(String value) {
        Matcher quantity = QUANTITY.matcher(value);
        if (quantity.matches()) {
            int shift = switch (quantity.group(2).toLowerCase(Locale.ROOT)) {
                case "", "b" -> 0;
                case "kib" -> 10;
                case "mib" -> 20;
                case "gib" -> 30;
                default -> -1;
            };
            if (shift >= 0) {
                return Math.multiplyExact(Long.parseLong(quantity.group(1)), 1L << shift);
            }
        }
        throw new IllegalArgumentException("'" + value + "' is not a size; write 65536, 64KiB, 64MiB or 1GiB");
    }

    private static Duration duration(String value) {
        Matcher quantity = QUANTITY.matcher(value);
        if (quantity.matches()) {
            long count = Long.parseLong(quantity.group(1));
            switch (quantity.group(2).toLowerCase(Locale.ROOT)) {
                case "ns":
                    return Duration.ofNanos(count);
                case "us", "µs":
                    return Duration.ofNanos(Math.multiplyExact(count, 1000L));
                case "ms":
                    return Duration.ofMillis(count);
                case "s":
                    return Duration.ofSeconds(count);
                case "m":
                    return Duration.ofMinutes(count);
                default:
                    break;
            }
        }
        try {
            return Duration.parse(value);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("'" + value + "' is not a time; write 500ms, 10s or 5m", e);
        }
    }
}
