package io.sluice.samples.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.PropertyResourceBundle;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/** The commands with their options. */
final class CommandTree {
    /** Their names, in the order in which help lists them. */
    static final List<String> NAMES = List.of(
            "demo",
            "replay",
            "decode",
            "serve",
            "mover",
            "cluster-demo",
            "train",
            "experts",
            "bench",
            "compare",
            "info",
            "help");

    // Further ones, which are no part of the program.
    private static final String[] OF_THE_LAUNCHER = {
        "",
        "In a checkout ./sluice also has:",
        "  test          runs all tests",
        "  jmh           runs the benchmarks of the hot path",
        "  docs          builds the site of the pages and the API",
        "  package       makes an archive that runs on hosts without a JDK",
        "  sbom          writes the bill of materials",
        "  format        formats the Java sources"
    };

    private static final List<String> VERSION = List.of("--version", "-V");

    private CommandTree() {}

    /** With the command that the first argument names alone, as to read the options of all takes longer than most of them. */
    static CommandLine of(Object program, Termination termination, String... arguments) {
        CommandSpec spec = CommandSpec.forAnnotatedObject(program)
                .addMixin("logging", CommandSpec.forAnnotatedObject(new LogLevelOption()));
        CommandLine commandLine = new CommandLine(spec);
        for (String name : named(arguments)) {
            CommandLine command = new CommandLine(command(name, termination));
            describe(name, command.getCommandSpec());
            commandLine.addSubcommand(name, command);
        }
        commandLine.getCommandSpec().usageMessage().footer(OF_THE_LAUNCHER);
        return OptionTypes.register(commandLine)
                .setCaseInsensitiveEnumValuesAllowed(true)
                // One of the log levels is called like a command.
                .setAllowSubcommandsAsOptionParameters(true)
                .setParameterExceptionHandler(CommandTree::reportUsage)
                .setExecutionExceptionHandler(new FailureReport())
                .setUsageHelpAutoWidth(true);
    }

    /** Sets the texts of help: of options from one file for all commands, before and after them from a file of the command's name. */
    private static void describe(String name, CommandSpec command) {
        if (command.userObject() instanceof CommandLine.HelpCommand) {
            return;
        }
        try (BufferedReader options = manual("options.properties");
                BufferedReader text = manual(name + ".txt")) {
            command.resourceBundle(new PropertyResourceBundle(options));
            String[] manual = (text.lines().collect(Collectors.joining("\n")) + "\n").split("---\n", 2);
            command.usageMessage()
                    .description(("\n" + manual[0]).split("\n", -1))
                    .footer(("\n" + manual[1].stripTrailing()).split("\n", -1));
        } catch (IOException e) {
            throw new UncheckedIOException("the manual of " + name + " cannot be read; build the program again", e);
        }
    }

    private static BufferedReader manual(String file) throws IOException {
        InputStream in = CommandTree.class.getResourceAsStream("manual/" + file);
        if (in == null) {
            throw new FileNotFoundException("this program lacks its resource " + file);
        }
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }

    /** Those that the arguments may be about: none for the version, and all, where the first of them is an option, a wrong name, or help. */
    private static List<String> named(String... arguments) {
        if (arguments.length == 1 && VERSION.contains(arguments[0])) {
            return List.of();
        }
        String first = arguments.length == 0 ? "help" : arguments[0];
        return NAMES.contains(first) && !first.equals("help") ? List.of(first) : NAMES;
    }

    private static Object command(String name, Termination termination) {
        return switch (name) {
            case "demo" -> new DemoCommand(termination);
            case "replay" -> new ReplayCommand(termination);
            case "decode" -> new DecodeCommand(termination);
            case "serve" -> new ServeCommand(termination);
            case "mover" -> new MoverCommand(termination);
            case "cluster-demo" -> new ClusterDemoCommand(termination);
            case "train" -> new TrainCommand(termination);
            case "experts" -> new ExpertsCommand(termination);
            case "bench" -> new BenchCommand(termination);
            case "compare" -> new CompareCommand(termination);
            case "info" -> new InfoCommand();
            case "help" -> new CommandLine.HelpCommand();
            default -> throw new IllegalArgumentException("no command is called " + name);
        };
    }

    /** Tells the user what is wrong with the command line, in a line or two: the whole help would bury it. */
    private static int reportUsage(ParameterException error, String[] arguments) {
        CommandLine command = error.getCommandLine();
        PrintWriter err = command.getErr();
        if (arguments.length == 0) {
            command.usage(err);
            return ExitCodes.USAGE;
        }
        err.println("sluice: " + error.getMessage());
        if (!UnmatchedArgumentException.printSuggestions(error, err)) {
            err.println("See '" + command.getCommandSpec().qualifiedName() + " --help'.");
        }
        err.flush();
        return ExitCodes.USAGE;
    }

    /** The option that says how much is logged; every command has it. */
    static final class LogLevelOption {
        @Option(
                names = "--log-level",
                paramLabel = "LEVEL",
                scope = ScopeType.INHERIT,
                defaultValue = "${env:SLUICE_LOG_LEVEL:-WARN}",
                description = {
                    "How much is logged to standard error: ${COMPLETION-CANDIDATES}.",
                    "Default: SLUICE_LOG_LEVEL from the environment, else WARN."
                })
        void level(LogLevel level) {
            if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
                context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.toLevel(level.name()));
            }
        }

        enum LogLevel {
            OFF,
            ERROR,
            WARN,
            INFO,
            DEBUG,
            TRACE
        }
    }
}
