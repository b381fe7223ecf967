package io.sluice.samples.command;

import io.sluice.samples.report.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Gives an option that takes a size its value in bytes. */
final class ByteSizeConverter implements ITypeConverter<Long> {

    /** For picocli. */
    ByteSizeConverter() {}

    @Override
    public Long convert(String text) {
        try {
            return ByteSize.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
