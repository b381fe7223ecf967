package io.sluice.samples.command;

import reactor.core.publisher.Hooks;

/** The program's commands under their top-level command. */
public final class ProgramCommands {

    private static final String INFO = "info";

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
            return CommandTree.of(program, termination, arguments).execute(arguments);
        }
    }

    /**
     * Shows what {@code info} does, if the arguments ask for that alone: to get ready to read options takes several times as
     * long. Nothing runs on after it, so that the program ends without {@link System#exit}, which has the JVM set up loggers of
     * its own.
     *
     * @param arguments the command and its options
     * @return whether it was that
     */
    public static boolean showedBareInfo(String... arguments) {
        if (arguments.length != 1 || !arguments[0].equals(INFO) || System.getenv("SLUICE_LOG_LEVEL") != null) {
            return false;
        }
        System.out.println(ProgramReport.current().toText().stripTrailing());
        return true;
    }
}
