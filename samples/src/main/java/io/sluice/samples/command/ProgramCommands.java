package io.sluice.samples.command;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import reactor.core.publisher.Hooks;

/** The program's commands under their top-level command. */
public final class ProgramCommands {

    private ProgramCommands() {}

    /**
     * Runs one of them.
     *
     * @param program the top-level command
     * @param arguments the command and its options
     * @return the exit status
     */
    public static int run(Object program, String... arguments) {
        // After a cancel errors come that nobody waits for any more; they are no news to the user.
        Hooks.onErrorDropped(new DroppedError());
        try (Termination termination = Termination.handle()) {
            return commandLine(program, termination).execute(arguments);
        }
    }

    private static CommandLine commandLine(Object program, Termination termination) {
        CommandSpec spec = CommandSpec.forAnnotatedObject(program)
                .addMixin("logging", CommandSpec.forAnnotatedObject(new LogLevelOption()));
        return new CommandLine(spec)
                .addSubcommand(new DemoCommand(termination))
                .addSubcommand(new ReplayCommand(termination))
                .addSubcommand(new DecodeCommand(termination))
                .addSubcommand(new ServeCommand(termination))
                .addSubcommand(new MoverCommand(termination))
                .addSubcommand(new ClusterDemoCommand(termination))
                .addSubcommand(new BenchCommand(termination))
                .addSubcommand(new CompareCommand(termination))
                .addSubcommand(new InfoCommand())
                .addSubcommand(new CommandLine.HelpCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                // One of the log levels is called like a command.
                .setAllowSubcommandsAsOptionParameters(true)
                .setParameterExceptionHandler(new UsageReport())
                .setExecutionExceptionHandler(new FailureReport())
                .setUsageHelpAutoWidth(true);
    }
}
