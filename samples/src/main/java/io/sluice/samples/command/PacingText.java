package io.sluice.samples.command;

import io.sluice.samples.replay.Pacing;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** For the option that takes a replay's speed. */
final class PacingText implements ITypeConverter<Pacing> {

    private static final String MAX = "max";

    @Override
    public Pacing convert(String text) {
        if (text.strip().equalsIgnoreCase(MAX)) {
            return Pacing.unlimited();
        }
        try {
            return Pacing.scaled(Double.parseDouble(text));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + text
                    + "' is no speed: give max, or a positive number, such as 1 for as recorded or 10 for ten times"
                    + " that");
        }
    }
}
