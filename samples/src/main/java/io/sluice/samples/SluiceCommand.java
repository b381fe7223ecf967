package io.sluice.samples;

import io.sluice.samples.command.ProgramCommands;
import io.sluice.samples.command.ProgramVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

@Command(
        name = "sluice",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        scope = ScopeType.INHERIT,
        header = "One-sided transfers between the memory of processes.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all went well",
            "1:it failed: a connection was lost, a page was corrupted or not accounted for, or standard output"
                    + " could not be written",
            "2:the command line, the trace or a size makes no sense",
            "130:ended by SIGINT (Ctrl-C)",
            "143:ended by SIGTERM"
        })
public final class SluiceCommand {
    private SluiceCommand() {}

    public static void main(String[] arguments) {
        boolean shown = ProgramCommands.showedBareInfo(arguments);
        int status = ProgramCommands.printed(shown ? 0 : ProgramCommands.run(new SluiceCommand(), arguments));
        if (!shown || status != 0) {
            System.exit(status);
        }
    }
}
