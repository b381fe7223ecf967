package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.samples.SluiceCommand;
import java.lang.reflect.Constructor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CommandTreeTest {

    private static CommandLine tree(String... arguments) throws ReflectiveOperationException {
        Constructor<SluiceCommand> constructor = SluiceCommand.class.getDeclaredConstructor();
        constructor.setAccessible(true);
        try (Termination termination = Termination.handle()) {
            return CommandTree.of(constructor.newInstance(), termination, arguments);
        }
    }

    static Iterable<String> names() {
        return CommandTree.NAMES;
    }

    @ParameterizedTest
    @MethodSource("names")
    void eachCommandIsCalledAsItIsListed(String name) throws ReflectiveOperationException {
        assertThat(tree().getSubcommands()
                        .get(name)
                        .getCommandSpec()
                        .userObject()
                        .getClass()
                        .getAnnotation(CommandLine.Command.class)
                        .name())
                .isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"info", "demo", "cluster-demo"})
    void aCommandThatIsNamedFirstIsMadeAlone(String name) throws ReflectiveOperationException {
        assertThat(tree(name, "help").getSubcommands()).containsOnlyKeys(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "-V"})
    void forTheVersionAloneNoneIsMade(String option) throws ReflectiveOperationException {
        assertThat(tree(option).getSubcommands()).isEmpty();
        assertThat(tree(option, "info").getSubcommands()).isNotEmpty();
    }

    @Test
    void whereTheyMayBeListedAllAreMade() throws ReflectiveOperationException {
        for (String first : new String[] {"help", "--help", "--log-level", "inof", "INFO", ""}) {
            assertThat(tree(first, "info").getSubcommands().keySet())
                    .as("after '%s'", first)
                    .containsExactlyElementsOf(CommandTree.NAMES);
        }
        assertThat(tree().getSubcommands().keySet()).containsExactlyElementsOf(CommandTree.NAMES);
    }
}
