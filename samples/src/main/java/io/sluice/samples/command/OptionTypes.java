package io.sluice.samples.command;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.HostAndPort;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.bench.MemoryPlace;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.replay.Pacing;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.DurationText;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How the text of an option becomes its value, by the value's type. */
final class OptionTypes {
    private OptionTypes() {}

    static CommandLine register(CommandLine commandLine) {
        return commandLine
                .registerConverter(Algorithm.class, oneOf(Algorithm.values()))
                .registerConverter(BenchCollective.class, oneOf(BenchCollective.values()))
                .registerConverter(ExpertMode.class, oneOf(ExpertMode.values()))
                .registerConverter(ElementType.class, oneOf(ElementType.values()))
                .registerConverter(ReduceOperation.class, oneOf(ReduceOperation.values()))
                .registerConverter(CpuList.class, converter(CpuList::parse))
                .registerConverter(Duration.class, converter(DurationText::parse))
                .registerConverter(EngineAddress.class, converter(EngineAddress::parse))
                .registerConverter(HostAndPort.class, converter(HostAndPort::parse))
                .registerConverter(MemoryPlace.class, converter(MemoryPlace::parse))
                .registerConverter(ModelPreset.class, converter(ModelPreset::named))
                .registerConverter(Pacing.class, converter(Pacing::parse));
    }

    /** A converter that shows its user why a text cannot be parsed. */
    static <T> ITypeConverter<T> converter(Function<String, T> parse) {
        return text -> {
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        };
    }

    /** A converter that takes names in lower case as well, and shows them so. */
    private static <E extends Enum<E>> ITypeConverter<E> oneOf(E[] values) {
        return text -> {
            for (E value : values) {
                if (value.toString().equalsIgnoreCase(text)) {
                    return value;
                }
            }
            throw new TypeConversionException("expected one of "
                    + Arrays.stream(values)
                            .map(value -> value.toString().toLowerCase(Locale.ROOT))
                            .collect(Collectors.joining(", "))
                    + ", but was '" + text + "'");
        };
    }

    /** Gives an option that takes a size its value in bytes. */
    static final class ByteSizeConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) throws Exception {
            return OptionTypes.converter(ByteSize::parse).convert(text);
        }
    }
}
