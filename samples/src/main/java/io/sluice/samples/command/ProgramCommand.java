package io.sluice.samples.command;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The base of the commands: the request to end, and the output streams. */
abstract class ProgramCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec = CommandSpec.create();

    final Termination termination;

    ProgramCommand(Termination termination) {
        this.termination = termination;
    }

    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    final void say(String line) {
        out().println(line);
        out().flush();
    }

    /** Ends the command with a usage error unless a condition holds. */
    static void require(boolean condition, String message) {
        if (!condition) {
            throw CommandFailure.usage(message);
        }
    }
}
