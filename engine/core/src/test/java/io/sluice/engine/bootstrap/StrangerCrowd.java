package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Strangers in a process of their own, until they are closed: some say a wrong hello, so many a second as far as the machine
 * goes, and leave once they are refused; others say nothing, and come again soon after they have been turned away.
 */
final class StrangerCrowd implements AutoCloseable {
    private static final String SOURCE = "/strangers.c";
    private static final long SECOND = 1_000_000_000L;
    private static final byte[] WRONG_PROOF = MessageSocket.encode(
            MessageType.AUTHENTICATE,
            new FieldWriter()
                    .put(Tag.PROOF, new byte[SessionSecret.PROOF_BYTES])
                    .put(Tag.OFFER, new byte[6])
                    .toBytes());

    /**
     * The plan of a crowd.
     *
     * @param hellos the messages, in turn
     */
    record Plan(List<String> helloFrom, int hellosASecond, List<byte[]> hellos, List<String> silentFrom, int silent) {}

    /** The outcomes of the hellos by the names that the process has for them, and how often a silent one came. */
    record Tally(Map<String, Long> counts) {
        private static final String CODE = "code ";

        long count(String name) {
            return counts.getOrDefault(name, 0L);
        }

        long refused(int code) {
            return count(CODE + code);
        }

        /** With a reason. */
        long refused() {
            return counts.keySet().stream()
                    .filter(name -> name.startsWith(CODE))
                    .mapToLong(this::count)
                    .sum();
        }

        /** Hellos in a second, as many as it came to. */
        long reachedASecond() {
            return count("began") * SECOND / count("nanos");
        }
    }

    private final Process process;

    /**
     * Lets them come.
     *
     * @param program as {@link #compile} has made it
     * @param port of the target, which listens on the loopback address
     */
    StrangerCrowd(Path program, int port, Plan plan) {
        HexFormat digits = HexFormat.of();
        try {
            process = new ProcessBuilder(
                            program.toString(),
                            Integer.toString(port),
                            digits.formatHex(WRONG_PROOF),
                            Integer.toString(plan.hellosASecond()),
                            String.join(",", plan.helloFrom()),
                            plan.hellos().stream().map(digits::formatHex).collect(Collectors.joining(",")),
                            Integer.toString(plan.silent()),
                            String.join(",", plan.silentFrom()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compiles the program into a folder. */
    static Path compile(Path folder) throws IOException {
        Path source = folder.resolve("strangers.c");
        Path program = folder.resolve("strangers");
        try (InputStream resource = StrangerCrowd.class.getResourceAsStream(SOURCE)) {
            assertThat(resource).as("the source of the strangers").isNotNull();
            Files.copy(resource, source);
        }
        String compiler = System.getenv().getOrDefault("CC", "cc");
        Process process = new ProcessBuilder(
                        compiler,
                        "-std=gnu11",
                        "-O2",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        source.toString(),
                        "-o",
                        program.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).as(output).isZero();
        return program;
    }

    /** Sends them away. Their outcomes. */
    Tally leave() throws IOException {
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).as("the strangers print %s", printed).isZero();
        Map<String, Long> counts = new TreeMap<>();
        for (String line : printed.lines().toList()) {
            int number = line.lastIndexOf(' ');
            counts.put(line.substring(0, number), Long.parseLong(line.substring(number + 1)));
        }
        return new Tally(counts);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
