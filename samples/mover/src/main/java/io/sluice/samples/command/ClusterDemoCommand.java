package io.sluice.samples.command;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "cluster-demo", header = "Watch three movers in a cluster lose one of them, and go on.")
final class ClusterDemoCommand extends ProgramCommand {
    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "30s")
    private Duration duration = Duration.ZERO;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    ClusterDemoCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        summary.require();
        // Complains about a transport that is not to be had before anything is started.
        transport.engineOptions();
        List<String> moverOptions =
                new ArrayList<>(List.of("--model", model.model().name()));
        moverOptions.addAll(transport.arguments());
        return new ClusterDemoRun(duration, ClusterDemoRun.DemoPools.of(model.model()), moverOptions, summary, this)
                .run();
    }
}
