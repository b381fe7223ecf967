package io.sluice.samples.command;

import io.sluice.samples.cluster.DemoPools;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice cluster-demo}. */
@Command(
        name = "cluster-demo",
        header = "Watch three movers in a cluster lose one of them, and go on.",
        description = {
            "",
            "Starts three 'sluice mover' processes on this machine, two prefill and one decode, which find each other"
                    + " in a clustered Vert.x. Blocks of KV-cache are moved by their hashes from the prefill movers to the"
                    + " decode mover all the time, and every page's seal is checked there.",
            "",
            "After a third of the time one prefill mover is killed (SIGKILL), and after half of it started again, under"
                    + " the same name. Meanwhile the other one serves, and moves that had failed are asked for again.",
            "",
            "It ends with status 0 only if every page arrived as it was sent, and blocks came from the other mover while"
                    + " one was gone, and from the restarted one afterwards. Nothing listens beyond loopback, and all"
                    + " processes end with this one, however it ends.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sluice cluster-demo",
            "  sluice cluster-demo --duration 2m --transport tcp",
            "  sluice cluster-demo --json out.json"
        })
final class ClusterDemoCommand extends ProgramCommand {

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "30s",
            description = {
                "How long blocks are moved. Longer, but not without bound, if the restarted mover has not served by then."
                        + " Default: ${DEFAULT-VALUE}."
            })
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
        return new ClusterDemoRun(duration, DemoPools.of(model.model()), moverOptions, summary, this).run();
    }
}
