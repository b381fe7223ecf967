package io.sluice.samples.command;

import io.sluice.samples.cluster.DemoPools;
import io.sluice.samples.report.DurationText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
                    + " processes end with this one, in whatever way it ends.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sluice cluster-demo",
            "  sluice cluster-demo --duration 2m --transport tcp",
            "  sluice cluster-demo --json out.json"
        })
final class ClusterDemoCommand implements Callable<Integer> {

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            converter = DurationText.class,
            defaultValue = "30s",
            description = {
                "How long blocks are moved. Longer, but not without bound, if the restarted mover has not served by then."
                        + " Default: ${DEFAULT-VALUE}."
            })
    private Duration duration = Duration.ZERO;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the summary there, too, as one JSON object.")
    private @Nullable Path json;

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final Termination termination;

    ClusterDemoCommand(Termination termination) {
        this.termination = termination;
    }

    @Override
    public Integer call() throws IOException {
        if (json != null) {
            WholeFile.require("--json", json);
        }
        // Complains about a transport that is not to be had before anything is started.
        transport.engineOptions();
        List<String> moverOptions =
                new ArrayList<>(List.of("--model", model.model().name()));
        moverOptions.addAll(transport.arguments());
        return new ClusterDemoRun(
                        duration, DemoPools.of(model.model()), moverOptions, json, termination, spec.commandLine())
                .run();
    }
}
