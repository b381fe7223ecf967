package io.sluice.reactor.recovery;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/** A process with an engine and one region, to be killed and started again. */
final class RestartablePeer implements AutoCloseable {
    static final String REGION = "target";
    static final int BYTES = 1 << 20;

    private final String transport;
    private final int port;
    private final File log;
    private Process process;

    RestartablePeer(String transport, int port, Path folder) throws IOException {
        this.transport = transport;
        this.port = port;
        this.log = folder.resolve("peer.txt").toFile();
        this.process = start();
    }

    /** The main method of the process; it runs until standard input ends. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of(arguments[0]))
                .listen("127.0.0.1", Integer.parseInt(arguments[1]))
                .build();
        try (TransferEngine engine = TransferEngine.open(options)) {
            // A peer that connects now finds no region yet.
            Thread.sleep(50);
            engine.allocate(BYTES, RegionOptions.readWrite().named(REGION));
            InputStream input = System.in;
            while (input.read() >= 0) {}
        }
    }

    void kill() {
        process.destroyForcibly();
        Patience.exit(process);
    }

    void restart() throws IOException {
        kill();
        process = start();
    }

    private Process start() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + log.getParent(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RestartablePeer.class.getName(),
                        transport,
                        Integer.toString(port))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                .start();
    }

    @Override
    public void close() {
        kill();
    }
}
