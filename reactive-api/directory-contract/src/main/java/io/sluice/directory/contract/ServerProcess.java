package io.sluice.directory.contract;

import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A server of a Debian package on loopback, with its files in a folder of its own. */
public final class ServerProcess implements AutoCloseable {
    private final List<String> command;
    private final Path folder;
    private final int port;
    private Process process;

    private ServerProcess(List<String> command, Path folder, int port) {
        this.command = command;
        this.folder = folder;
        this.port = port;
        this.process = launch();
    }

    /**
     * Finds a program on the path and where Debian installs servers.
     *
     * @param program its file name
     * @return the file
     */
    public static Optional<Path> find(String program) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), Stream.of("/usr/bin", "/usr/sbin"))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts a server and waits until it listens.
     *
     * @param folder the server's working folder
     * @param port the port that it will listen on
     * @param command the program and its arguments
     * @return the running server
     */
    public static ServerProcess start(Path folder, int port, String... command) {
        ServerProcess server = new ServerProcess(List.of(command), folder, port);
        server.awaitListening();
        return server;
    }

    private Process launch() {
        try {
            return new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("output.log").toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitListening() {
        Awaitility.await("the server listens")
                .atMost(Patience.BOUND)
                .pollInterval(Duration.ofMillis(50))
                .until(this::isListening);
    }

    private boolean isListening() throws IOException {
        if (!process.isAlive()) {
            throw new AssertionError("the server has ended: " + Files.readString(folder.resolve("output.log")));
        }
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Sends SIGSTOP: its sockets stay open, but it does not answer. */
    public void freeze() {
        signal(process.pid(), "STOP");
        Awaitility.await("the server has stopped")
                .atMost(Patience.BOUND)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"))
                        .matches("(?s)[^)]*\\) T .*"));
    }

    /** Sends SIGCONT. */
    public void thaw() {
        signal(process.pid(), "CONT");
    }

    static void signal(long pid, String name) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                    .inheritIO()
                    .start();
            if (!kill.waitFor(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS) || kill.exitValue() != 0) {
                throw new AssertionError("SIG" + name + " could not be sent to " + pid);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while sending SIG" + name, e);
        }
    }

    /** Sends SIGKILL. */
    public void stop() {
        end();
    }

    /** Starts it again with the same arguments after {@link #stop()}, once its port is free. */
    public void startAgain() {
        Awaitility.await("port " + port + " is free again")
                .atMost(Patience.BOUND)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> FreePort.isFree(port));
        process = launch();
        awaitListening();
    }

    private void end() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("the server has survived SIGKILL");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while the server was ending", e);
        }
    }

    /**
     * Deletes a folder with its contents.
     *
     * @param folder may be missing
     */
    public static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        end();
    }
}
