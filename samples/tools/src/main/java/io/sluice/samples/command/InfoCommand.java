package io.sluice.samples.command;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(name = "info", header = "Show the version, the machine, its GPUs, and which transports can be used here.")
final class InfoCommand implements Callable<Integer> {
    @Option(names = "--json")
    private boolean json;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        ProgramReport report = ProgramReport.current();
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? report.toJson() : report.toText().stripTrailing());
        out.flush();
        return ExitCodes.OK;
    }
}
