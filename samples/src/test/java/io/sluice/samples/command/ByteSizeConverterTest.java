package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Option;

class ByteSizeConverterTest {

    private static final class Command {
        @Option(names = "--pool", converter = OptionTypes.ByteSizeConverter.class)
        long pool;
    }

    @Test
    void convertsOptions() {
        Command command = new Command();
        CommandLine line = new CommandLine(command);
        line.parseArgs("--pool", "2GiB");
        assertThat(command.pool).isEqualTo(2L << 30);
        assertThatThrownBy(() -> line.parseArgs("--pool", "2Gi"))
                .isInstanceOf(CommandLine.ParameterException.class)
                .hasMessageContaining("--pool")
                .hasMessageContaining("'2Gi' has no known unit")
                .hasMessageNotContaining("Exception");
    }
}
