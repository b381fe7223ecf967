package io.sluice.samples.command;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Tells the user what is wrong with the command line, in a line or two: the whole help would bury it. */
final class UsageReport implements IParameterExceptionHandler {

    @Override
    public int handleParseException(ParameterException error, String[] arguments) {
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
}
