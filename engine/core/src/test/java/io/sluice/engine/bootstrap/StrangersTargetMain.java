package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.session.DefaultTransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A process with an engine that strangers are sent to, with all limits as they are by default. Its arguments are a token, or the
 * files of TLS. It answers each line of its input with a line.
 */
final class StrangersTargetMain {
    static final String ANSWER = "answer: ";

    // of which one in four leaves nothing behind
    private static final int COLLECTIONS = 4;
    private static final Duration SAMPLED = Duration.ofMillis(2);

    private final DefaultTransferEngine engine;
    private volatile long mostDirect;
    private volatile int mostHalfOpen;

    private StrangersTargetMain(EngineOptions options) {
        engine = (DefaultTransferEngine) TransferEngine.open(options);
    }

    public static void main(String[] arguments) throws Exception {
        EngineOptions.Builder options = PatientOptions.builder().transports(List.of("tcp"));
        if (arguments.length == 1) {
            options.token(arguments[0].getBytes(StandardCharsets.UTF_8));
        } else {
            options.tls(TlsOptions.pem(Path.of(arguments[0]), Path.of(arguments[1]), Path.of(arguments[2])));
        }
        StrangersTargetMain process = new StrangersTargetMain(options.build());
        Thread.ofPlatform().daemon().name("sampler").start(process::sample);
        say(process.engine.address().toString());
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                say(process.answer(line));
            }
        }
        System.exit(0);
    }

    private static void say(String answer) {
        System.out.println(ANSWER + answer);
    }

    private void sample() {
        while (true) {
            synchronized (this) {
                mostDirect = Math.max(mostDirect, direct());
                mostHalfOpen = Math.max(mostHalfOpen, engine.metrics().halfOpen());
            }
            Patience.pause(SAMPLED);
        }
    }

    private String answer(String question) {
        return switch (question) {
            case "direct" -> Long.toString(direct());
            case "most-direct" -> Long.toString(mostDirect);
            case "most-half-open" -> Integer.toString(mostHalfOpen);
            case "half-open" -> Integer.toString(engine.metrics().halfOpen());
            case "buffers" -> Long.toString(engine.handshakes().buffers().made());
            case "connections" -> Integer.toString(engine.connections().size());
            case "heap" -> Long.toString(heap());
            case "forget" -> forget();
            case "refused" ->
                Arrays.stream(RefusalReason.values())
                        .filter(reason -> engine.metrics().handshakesRefused(reason) > 0)
                        .map(reason -> reason + "=" + engine.metrics().handshakesRefused(reason))
                        .collect(Collectors.joining(" "));
            default -> throw new IllegalArgumentException(question);
        };
    }

    /** The most is from now on. */
    private synchronized String forget() {
        mostDirect = direct();
        mostHalfOpen = 0;
        return "forgotten";
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .findFirst()
                .orElseThrow()
                .getMemoryUsed();
    }

    /** The reachable heap; allocations of threads since a collection are not counted. */
    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryPoolMXBeans().stream()
                            .filter(pool -> pool.getType() == MemoryType.HEAP)
                            .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                            .sum());
        }
        return least;
    }
}
