package io.sluice.samples.command;

import java.io.PrintWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The options of commands whose engine can be watched while they run. */
final class MetricsOption {

    private static final String LOOPBACK = "127.0.0.1";
    private static final int MAX_PORT = 65_535;

    @Option(
            names = "--metrics-port",
            paramLabel = "PORT",
            description = {
                "Answer Prometheus there, at /metrics, and probes at /health/live and /health/ready; 0 is any free port. The"
                        + " figures are those of this process, not of one that it starts. Default: no.",
            })
    private @Nullable Integer port;

    @Option(
            names = "--metrics-host",
            paramLabel = "HOST",
            description =
                    "Where --metrics-port listens. It answers every client: name another host only in a network that"
                            + " you trust. Default: " + LOOPBACK + ".")
    private @Nullable String host;

    @Option(
            names = "--metrics-linger",
            paramLabel = "TIME",
            description =
                    "How long to go on answering after the last figure was printed, or after the run has failed, such as"
                            + " 15s, so that a last scrape finds it. Default: 0.")
    private @Nullable Duration linger;

    /**
     * Listens, if that was asked for, and says where.
     *
     * @throws CommandFailure if it cannot listen there
     */
    MetricsEndpoint open(CommandLine command) {
        if (port == null) {
            if (host != null || linger != null) {
                throw CommandFailure.usage("--metrics-host and --metrics-linger take --metrics-port, too");
            }
            return MetricsEndpoint.NONE;
        }
        if (port < 0 || port > MAX_PORT) {
            throw CommandFailure.usage("--metrics-port: a port is 0, for any free one, to " + MAX_PORT);
        }
        // Not to standard output, which may be for a program.
        PrintWriter err = command.getErr();
        HttpMetricsEndpoint endpoint = HttpMetricsEndpoint.open(
                host == null ? LOOPBACK : host, port, linger == null ? Duration.ZERO : linger, err);
        err.println("sluice: metrics at " + endpoint.url());
        err.flush();
        return endpoint;
    }
}
