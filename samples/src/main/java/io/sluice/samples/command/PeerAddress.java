package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** For options that take the address of another engine. */
final class PeerAddress implements ITypeConverter<EngineAddress> {
    @Override
    public EngineAddress convert(String text) {
        try {
            return EngineAddress.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
