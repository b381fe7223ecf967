package io.sluice.engine.bootstrap;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.Sockets;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A process with an engine whose direct memory and descriptors can be taken away for a while, by the lines of its input. It
 * answers each with a line.
 */
final class ScarceProcessMain {
    static final String ANSWER = "answer: ";
    static final int MAX_HALF_OPEN = 4;
    static final int MANY_POLLERS = 64;

    private static final EngineOptions OPTIONS = PatientOptions.builder()
            .transports(List.of("tcp"))
            .maxHalfOpen(MAX_HALF_OPEN)
            .connectTimeout(Patience.BOUND)
            .pollers(2)
            .build();

    private final long directBytes;
    private final TransferEngine engine = TransferEngine.open(OPTIONS);
    private final ArrayDeque<Integer> descriptors = new ArrayDeque<>();
    private final List<ByteBuffer> taken = new ArrayList<>();

    private ScarceProcessMain(long directBytes) {
        this.directBytes = directBytes;
    }

    public static void main(String[] arguments) throws Exception {
        ScarceProcessMain process = new ScarceProcessMain(Long.parseLong(arguments[0]));
        // what is loaded at the first time needs descriptors of its own
        process.open(OPTIONS);
        process.connect(process.engine.address());
        OpenDescriptors.count();
        say(process.engine.address().toString());
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                say(process.answer(line.split(" ")));
            }
        }
        System.exit(0);
    }

    private static void say(String answer) {
        System.out.println(ANSWER + answer);
    }

    private String answer(String[] command) {
        return switch (command[0]) {
            case "take-memory" -> takeMemory();
            case "give-memory" -> giveMemory();
            case "take-descriptors" -> takeDescriptors(Integer.parseInt(command[1]));
            case "give-descriptors" -> giveDescriptors();
            case "open" -> open(OPTIONS);
            case "open-many-threads" ->
                open(OPTIONS.toBuilder().pollers(MANY_POLLERS).build());
            case "connect" -> connect(command.length == 1 ? engine.address() : EngineAddress.parse(command[1]));
            case "half-open" -> Integer.toString(engine.metrics().halfOpen());
            case "descriptors" -> Integer.toString(OpenDescriptors.count());
            case "direct-buffers" -> Long.toString(direct().getCount());
            case "threads" -> Long.toString(threads());
            default -> throw new IllegalArgumentException(command[0]);
        };
    }

    private static BufferPoolMXBean direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .findFirst()
                .orElseThrow();
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("-poller-"))
                .count();
    }

    private String takeMemory() {
        // one that lacks memory has garbage collected, which must not find any
        for (int i = 0; i < 3; i++) {
            System.gc();
            Patience.pause(Duration.ofMillis(20));
            for (long free = free(); free > 0; free = free()) {
                taken.add(ByteBuffer.allocateDirect(Math.toIntExact(free)));
            }
        }
        return "taken";
    }

    private long free() {
        return directBytes - direct().getMemoryUsed();
    }

    private String giveMemory() {
        taken.clear();
        Patience.until("the memory is free", () -> {
            System.gc();
            return free() > directBytes / 2;
        });
        return "given";
    }

    /** All but so many. */
    private String takeDescriptors(int left) {
        for (int made = EventDescriptor.create(); made >= 0; made = EventDescriptor.create()) {
            descriptors.add(made);
        }
        for (int i = 0; i < left; i++) {
            Sockets.close(descriptors.remove());
        }
        return "taken";
    }

    private String giveDescriptors() {
        descriptors.forEach(Sockets::close);
        descriptors.clear();
        return "given";
    }

    private static String open(EngineOptions options) {
        try {
            TransferEngine.open(options).close();
            return "opened";
        } catch (SluiceException e) {
            return "SluiceException: " + e.getMessage();
        } catch (Throwable e) {
            return e.toString();
        }
    }

    private String connect(EngineAddress address) {
        try {
            Connection connection = Patience.await(engine.connect(address));
            Patience.await(connection.close());
            return "connected";
        } catch (Throwable e) {
            return String.valueOf(e);
        }
    }
}
