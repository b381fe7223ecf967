package io.sluice.samples.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A browser without a screen: a process whose start takes seconds, with as many pages as are wanted. */
public final class Browser implements AutoCloseable {

    private static final Duration BOUND = Patience.BOUND;
    private static final Duration END = Patience.scaled(Duration.ofSeconds(10));

    private final Process process;
    private final URI address;

    private Browser(Process process, URI address) {
        this.process = process;
        this.address = address;
    }

    /**
     * Starts it.
     *
     * @param folder for its own files
     */
    public static Browser start(Path folder) throws IOException {
        Path files = Files.createTempDirectory(folder, "browser");
        Path log = Files.createTempFile(folder, "browser", ".txt");
        List<String> command = Chromium.command(files);
        command.addAll(List.of(
                "--remote-debugging-port=0", "--renderer-process-limit=1", "--window-size=1100,1000", "about:blank"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            Path told = files.resolve("DevToolsActivePort");
            await("the browser's port").atMost(BOUND).until(() -> {
                assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
                return Files.exists(told) && Files.readAllLines(told).size() > 1;
            });
            List<String> lines = Files.readAllLines(told);
            return new Browser(process, URI.create("ws://127.0.0.1:" + lines.get(0) + lines.get(1)));
        } catch (RuntimeException | Error e) {
            end(process);
            throw e;
        }
    }

    /** Opens a page. */
    public BrowserPage open(URI page) {
        return new BrowserPage(address, page);
    }

    private static void end(Process process) {
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        all.forEach(ProcessHandle::destroyForcibly);
        // Until then they write into a folder that is about to be removed.
        all.forEach(one ->
                one.onExit().orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS).join());
    }

    /** It ends by itself, and then leaves nothing behind; or by force. */
    @Override
    public void close() {
        try (DevTools devTools = DevTools.connect(address, (event, parameters) -> {})) {
            devTools.call("", "Browser.close", DevTools.parameters());
            process.waitFor(END.toNanos(), TimeUnit.NANOSECONDS);
        } catch (CompletionException gone) {
            // It has ended before it could answer.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(process);
        }
    }
}
