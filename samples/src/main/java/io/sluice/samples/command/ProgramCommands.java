package io.sluice.samples.command;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;
import reactor.core.publisher.Hooks;

/** The program's commands under their top-level command. */
public final class ProgramCommands {
    private static final Logger LOG = LoggerFactory.getLogger(ProgramCommands.class);

    private ProgramCommands() {}

    /**
     * Runs one of them.
     *
     * @param program the top-level command
     * @return the exit status
     */
    public static int run(Object program, String... arguments) {
        // After a cancel late errors come, which are no news to the user.
        Hooks.onErrorDropped(error -> LOG.debug("an error came after a cancel", error));
        try (Termination termination = Termination.handle()) {
            CommandLine commandLine = CommandTree.of(program, termination, arguments);
            int status = commandLine.execute(arguments);
            for (CommandLine each = commandLine; each != null; each = executed(each)) {
                each.getOut().flush();
            }
            return status;
        }
    }

    private static @Nullable CommandLine executed(CommandLine parent) {
        ParseResult parsed = parent.getParseResult();
        return parsed == null || !parsed.hasSubcommand()
                ? null
                : parsed.subcommand().commandSpec().commandLine();
    }

    /**
     * Looks whether all that a command has printed has arrived, and says so if it has not: streams to standard output keep
     * such errors to themselves.
     *
     * @param status the command's exit status
     * @return the same, or that of a failure if all went well but this
     */
    public static int printed(int status) {
        if (!System.out.checkError()) {
            return status;
        }
        System.err.println("sluice: standard output could not be written, and some of it is lost;"
                + " see whether its disk is full or its reader has ended");
        return status == ExitCodes.OK ? ExitCodes.FAILED : status;
    }

    /**
     * Shows what {@code info} does, if the arguments ask for that alone: to get ready to read options takes several times as
     * long. Nothing runs on after it, so that the program ends without {@link System#exit}, which has the JVM set up loggers of
     * its own.
     *
     * @return whether it was that
     */
    public static boolean showedBareInfo(String... arguments) {
        if (arguments.length != 1 || !arguments[0].equals("info") || System.getenv("SLUICE_LOG_LEVEL") != null) {
            return false;
        }
        System.out.println(ProgramReport.current().toText().stripTrailing());
        return true;
    }
}
