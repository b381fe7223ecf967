package io.sluice.samples.command;

import io.sluice.samples.report.ByteSize;
import picocli.CommandLine.ITypeConverter;

/** Gives an option that takes a size its value in bytes. */
final class ByteSizeConverter implements ITypeConverter<Long> {

    @Override
    public Long convert(String text) throws Exception {
        return OptionTypes.converter(ByteSize::parse).convert(text);
    }
}
