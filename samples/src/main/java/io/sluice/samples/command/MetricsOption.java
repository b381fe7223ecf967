package io.sluice.samples.command;

import java.io.PrintWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The options of commands whose engine can be watched while they run. */
final class MetricsOption {
    private static final int MAX_PORT = 65_535;

    @Option(names = "--metrics-port", paramLabel = "PORT")
    private @Nullable Integer port;

    @Option(names = "--metrics-host", paramLabel = "HOST")
    private @Nullable String host;

    @Option(names = "--metrics-linger", paramLabel = "TIME")
    private @Nullable Duration linger;

    MetricsEndpoint open(CommandLine command) {
        if (port == null) {
            ProgramCommand.require(
                    host == null && linger == null, "--metrics-host and --metrics-linger take --metrics-port, too");
            return MetricsEndpoint.NONE;
        }
        ProgramCommand.require(
                port >= 0 && port <= MAX_PORT, "--metrics-port: a port is 0, for any free one, to " + MAX_PORT);
        // Not to standard output, which may be for a program.
        PrintWriter err = command.getErr();
        HttpMetricsEndpoint endpoint = HttpMetricsEndpoint.open(
                host == null ? "127.0.0.1" : host, port, linger == null ? Duration.ZERO : linger, err);
        err.println("sluice: metrics at " + endpoint.url());
        err.flush();
        return endpoint;
    }
}
