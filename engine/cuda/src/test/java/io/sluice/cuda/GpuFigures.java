package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Figures of two processes, with GPU 0 and GPU 1, and next to each what the plain C program of the samples reaches. Arguments: groups of
 * {@code copies}, {@code pages}, {@code host}, {@code staged} and {@code kill}; or {@code serve}, for the process that owns GPU 1. Properties: {@code figures.out} is
 * the file to which a line of JSON is added for each, {@code figures.program} the C program and {@code figures.kernels} the file of the
 * kernels, without which only the engine is measured; {@code figures.window} the bytes of each side, {@code figures.warmup} and
 * {@code figures.duration} in milliseconds.
 */
final class GpuFigures {
    private static final long WINDOW_BYTES = Long.getLong("figures.window", 1L << 30);
    private static final long STAGED_BYTES = Math.min(WINDOW_BYTES, 256L << 20);
    private static final long WARMUP_MILLIS = Long.getLong("figures.warmup", 500);
    private static final long DURATION_MILLIS = Long.getLong("figures.duration", 1500);
    private static final @Nullable String OUT = System.getProperty("figures.out");
    private static final @Nullable String PROGRAM = System.getProperty("figures.program");
    private static final String KERNELS = System.getProperty("figures.kernels", "kernels.ptx");
    private static final String BLOCKS = "528";
    private static final int FILL_BYTES = 1 << 20;
    private static final long CHECKED_BYTES = 4096;
    private static final int CHECKED_PAGES = 32;
    private static final int PROGRAM_SECONDS = 40;
    private static final Pattern FIELD = Pattern.compile("\"([a-z_]+)\":\"?([^,\"}]+)");

    private final Connection connection;
    private final RemoteRegion remote;
    private final MemoryRegion served;
    private MemoryRegion local;

    private GpuFigures(Connection connection, RemoteRegion remote, MemoryRegion local) {
        this.connection = connection;
        this.remote = remote;
        this.served = local;
        this.local = local;
    }

    // ---- the process that owns the other GPU ----

    @SuppressWarnings("SystemOut")
    private static void serve() throws IOException {
        TransferEngine engine = TransferEngine.open(options());
        MemoryRegion region =
                engine.allocate(WINDOW_BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        MemoryRegion host = engine.allocate(STAGED_BYTES, RegionOptions.readWrite());
        // its pages are there before anything is measured
        host.segment().fill((byte) 1);
        System.out.println("READY " + engine.address() + ' '
                + HexFormat.of().formatHex(region.descriptor().toBytes()) + ' '
                + HexFormat.of().formatHex(host.descriptor().toBytes()));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
            // it ends with the process that has started it
        }
        engine.close();
    }

    private static RegionDescriptor descriptor(String text) {
        return RegionDescriptor.fromBytes(HexFormat.of().parseHex(text));
    }

    private static EngineOptions options() {
        return EngineOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .environment(System.getenv())
                .build();
    }

    private static Process peer() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "--enable-native-access=ALL-UNNAMED",
                "-Dfigures.window=" + WINDOW_BYTES,
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        command.addAll(SoftGpu.javaOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), GpuFigures.class.getName(), "serve"));
        return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    }

    // ---- what is measured ----

    /** The engine's figure, or the C program's. */
    private record Figure(
            double rate,
            double medianMicros,
            double p99Micros,
            @Nullable String error) {
        static Figure failed(Throwable error) {
            return new Figure(0, 0, 0, String.valueOf(error).replaceAll("[\"\\\\\n]", " "));
        }

        String json() {
            return error != null
                    ? "\"error\":\"" + error + '"'
                    : String.format(
                            Locale.ROOT,
                            "\"rate\":%.0f,\"median_micros\":%.3f,\"p99_micros\":%.3f",
                            rate,
                            medianMicros,
                            p99Micros);
        }

        String text(boolean alone) {
            return error != null
                    ? "failed"
                    : alone
                            ? String.format(Locale.ROOT, "%.1f us", medianMicros)
                            : String.format(Locale.ROOT, "%.1f GB/s", rate / 1e9);
        }

        /** How many times as good as the other: more bytes a second, or less time. */
        String ratio(Figure other, boolean alone) {
            return error != null || other.error != null
                    ? "-"
                    : String.format(Locale.ROOT, "%.2f", alone ? other.medianMicros / medianMicros : rate / other.rate);
        }
    }

    private void measure(
            String name, long bytes, int inflight, RepeatedTransfers.Form form, List<List<String>> programs) {
        Figure own = figure(bytes, inflight, form);
        report(name, "engine", bytes, inflight, own, null);
        for (List<String> each : programs) {
            if (PROGRAM != null) {
                report(name, each.getFirst(), bytes, inflight, program(each, bytes), own);
            }
        }
    }

    private static Figure figure(long bytes, int inflight, RepeatedTransfers.Form form) {
        try {
            RepeatedTransfers.Result result =
                    new RepeatedTransfers(form, inflight).run(WARMUP_MILLIS * 1_000_000, DURATION_MILLIS * 1_000_000);
            return new Figure(result.perSecond() * bytes, result.micros(0.5), result.micros(0.99), null);
        } catch (Exception | AssertionError e) {
            return Figure.failed(e);
        }
    }

    @SuppressWarnings("SystemOut")
    private static void report(String name, String who, long bytes, int inflight, Figure figure, @Nullable Figure own) {
        boolean alone = inflight == 1;
        System.out.printf(
                Locale.ROOT,
                "%-36s %-12s %10s %11s %5s%s%n",
                name,
                who,
                figure.text(alone),
                alone ? figure.text(false) : "",
                own == null ? "" : own.ratio(figure, alone),
                figure.error() == null ? "" : "  " + figure.error());
        if (OUT != null) {
            String line = String.format(
                    Locale.ROOT,
                    "{\"what\":\"%s\",\"who\":\"%s\",\"bytes\":%d,\"inflight\":%d,%s}%n",
                    name,
                    who,
                    bytes,
                    inflight,
                    figure.json());
            try {
                Files.writeString(Path.of(OUT), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static Figure program(List<String> operands, long bytes) {
        List<String> command = new ArrayList<>(List.of(PROGRAM));
        command.addAll(operands);
        command.addAll(List.of(Long.toString(WARMUP_MILLIS), Long.toString(DURATION_MILLIS)));
        try {
            Path log = Files.createTempFile("gpu", ".log");
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            boolean ended = process.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS);
            process.destroyForcibly();
            String output = Files.readString(log);
            if (!ended || process.exitValue() != 0) {
                throw new IllegalStateException((ended ? "" : "not in time; ") + output.strip());
            }
            Map<String, String> fields = new HashMap<>();
            Matcher matcher = FIELD.matcher(output);
            while (matcher.find()) {
                fields.put(matcher.group(1), matcher.group(2));
            }
            return new Figure(
                    Double.parseDouble(fields.get("rate")),
                    Double.parseDouble(fields.get("median_nanos")) / 1e3,
                    0,
                    null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Figure.failed(e);
        } catch (IOException | RuntimeException e) {
            return Figure.failed(e);
        }
    }

    /** Says so if a place has not the same bytes on both sides. */
    @SuppressWarnings("SystemOut")
    private void compare(String what, long localAt, long remoteAt, long bytes) {
        long here = local.checksum(localAt, bytes);
        long there = Patience.await(connection.checksum(remote, remoteAt, bytes));
        if (here != there) {
            System.out.println(what + " FAILED: other bytes at " + remoteAt + " than at " + localAt);
        }
    }

    // ---- groups ----

    private RepeatedTransfers.Form single(boolean write, long bytes, int inflight) {
        long step = Math.max(bytes, FILL_BYTES);
        return (slot, end) -> {
            long at = slot * step % (local.length() - bytes + 1);
            return write
                    ? connection.prepared().write(local, at, remote, at, bytes, RepeatedTransfers.OPTIONS, end)
                    : connection.prepared().read(local, at, remote, at, bytes, RepeatedTransfers.OPTIONS, end);
        };
    }

    private void copies() {
        for (boolean write : new boolean[] {true, false}) {
            String way = write ? "write " : "read ";
            measure(way + "8 B alone", 8, 1, single(write, 8, 1), List.of(List.of("copy", "8", "1")));
            for (long bytes : new long[] {64 << 10, 1 << 20, 256 << 20}) {
                for (int inflight : new int[] {1, 4}) {
                    if (bytes * inflight > WINDOW_BYTES) {
                        continue;
                    }
                    String size = bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
                    measure(
                            way + size + (inflight == 1 ? " alone" : ", 4 in flight"),
                            bytes,
                            inflight,
                            single(write, bytes, inflight),
                            write ? List.of(List.of("copy", "" + bytes, "" + inflight)) : List.of());
                }
            }
            compare(way, 0, 0, Math.min(WINDOW_BYTES, 4 << 20));
        }
        // not prepared
        measure(
                "write 8 B alone, unprepared",
                8,
                1,
                RepeatedTransfers.unprepared(
                        end -> connection.write(local, 0, remote, 0, 8, RepeatedTransfers.OPTIONS, end)),
                List.of());
    }

    /** Every second slot, in random order. */
    static int[] scattered(int count, long seed) {
        List<Integer> all =
                new ArrayList<>(IntStream.range(0, count).mapToObj(i -> 2 * i).toList());
        Collections.shuffle(all, new Random(seed));
        return all.stream().mapToInt(Integer::intValue).toArray();
    }

    private static List<List<String>> pagePrograms(long pageBytes, int pages, int inflight) {
        List<String> rest = List.of(Long.toString(pageBytes), Integer.toString(pages), Integer.toString(inflight));
        List<List<String>> all = new ArrayList<>();
        all.add(with(List.of("pages-kernel", KERNELS, BLOCKS), rest));
        all.add(with(List.of("pages-batch"), rest));
        all.add(with(List.of("pages-copies"), rest));
        return all;
    }

    private static List<String> with(List<String> first, List<String> rest) {
        List<String> all = new ArrayList<>(first);
        all.addAll(rest);
        return all;
    }

    private void pages() {
        pages(256, 4096, 1, true);
        pages(256, 4096, 1, false);
        pages(2048, 4096, 1, true);
        for (int[] shape : new int[][] {{4096, 4096}, {2048, 16_384}, {4096, 65_536}}) {
            if (2L * shape[0] * shape[1] <= WINDOW_BYTES) {
                pages(shape[0], shape[1], 4, true);
            }
        }
    }

    private void pages(int count, int pageBytes, int inflight, boolean isPrepared) {
        int[] locals = scattered(count, 1);
        int[] remotes = scattered(count, 2);
        String name = count + " x " + pageBytes / 1024 + " KiB" + (isPrepared ? "" : " unprepared")
                + (inflight == 1 ? ", alone" : ", " + inflight + " in flight");
        for (boolean write : new boolean[] {true, false}) {
            RepeatedTransfers.Form form = isPrepared
                    ? (slot, end) -> write
                            ? connection
                                    .prepared()
                                    .writePages(
                                            local, locals, remote, remotes, pageBytes, RepeatedTransfers.OPTIONS, end)
                            : connection
                                    .prepared()
                                    .readPages(
                                            local, locals, remote, remotes, pageBytes, RepeatedTransfers.OPTIONS, end)
                    : RepeatedTransfers.unprepared(end -> {
                        if (write) {
                            connection.writePages(
                                    local, locals, remote, remotes, pageBytes, RepeatedTransfers.OPTIONS, end);
                        } else {
                            connection.readPages(
                                    local, locals, remote, remotes, pageBytes, RepeatedTransfers.OPTIONS, end);
                        }
                    });
            measure(
                    (write ? "write " : "read ") + name,
                    (long) count * pageBytes,
                    inflight,
                    form,
                    write && isPrepared ? pagePrograms(pageBytes, count, inflight) : List.of());
            for (int i = 0; i < count; i += count / CHECKED_PAGES + 1) {
                compare(
                        name,
                        (long) locals[i] * pageBytes,
                        (long) remotes[i] * pageBytes,
                        Math.min(pageBytes, CHECKED_BYTES));
            }
        }
    }

    private void host(TransferEngine engine) {
        long bytes = Math.min(64L << 20, WINDOW_BYTES / 4);
        local = engine.allocate(4 * bytes, RegionOptions.local());
        byte[] random = new byte[FILL_BYTES];
        new Random(5).nextBytes(random);
        for (long at = 0; at < local.length(); at += FILL_BYTES) {
            local.segment().asSlice(at, FILL_BYTES).copyFrom(MemorySegment.ofArray(random));
        }
        for (boolean write : new boolean[] {true, false}) {
            String program = write ? "to-device" : "from-device";
            String way = write ? "host write " : "host read ";
            measure(way + "8 B alone", 8, 1, single(write, 8, 1), List.of(List.of(program, "8", "1")));
            for (int inflight : new int[] {1, 4}) {
                measure(
                        way + (bytes >> 20) + " MiB" + (inflight == 1 ? " alone" : ", 4 in flight"),
                        bytes,
                        inflight,
                        single(write, bytes, inflight),
                        List.of(List.of(program, "" + bytes, "" + inflight)));
            }
            compare(way, 0, 0, Math.min(bytes, 4 << 20));
        }
        local = served;
    }

    /**
     * From GPU to GPU through pinned memory and over tcp, by an engine that maps nothing; for comparison, host to host over the same
     * connection.
     */
    @SuppressWarnings("SystemOut")
    private static void staged(EngineAddress address, RegionDescriptor gpu, RegionDescriptor host) {
        TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                .environment(System.getenv())
                .transports(List.of("tcp", "cuda"))
                .transport(CudaOptions.builder().mapped(false).build())
                .build());
        Connection connection = Patience.await(engine.connect(address));
        MemoryRegion onGpu = engine.allocate(STAGED_BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        fill(onGpu);
        MemoryRegion onHost = engine.allocate(STAGED_BYTES, RegionOptions.local());
        onHost.segment().fill((byte) 2);
        RemoteRegion toGpu = Patience.await(connection.attach(gpu));
        System.out.println("staged: " + toGpu.path(MemoryKind.CUDA).reason());
        GpuFigures figures = new GpuFigures(connection, toGpu, onGpu);
        GpuFigures hostToHost = new GpuFigures(connection, Patience.await(connection.attach(host)), onHost);
        for (boolean write : new boolean[] {true, false}) {
            for (long bytes = 64L << 20; bytes <= STAGED_BYTES; bytes *= 4) {
                for (int inflight : new int[] {1, 4}) {
                    String name = (write ? "write " : "read ") + (bytes >> 20) + " MiB over tcp"
                            + (inflight == 1 ? " alone" : ", 4 in flight");
                    Figure own = figure(bytes, inflight, figures.single(write, bytes, inflight));
                    report(name, "gpu to gpu", bytes, inflight, own, null);
                    Figure plain = figure(bytes, inflight, hostToHost.single(write, bytes, inflight));
                    report(name, "host to host", bytes, inflight, plain, own);
                }
            }
            figures.compare("staged " + write, 0, 0, Math.min(STAGED_BYTES, 4 << 20));
        }
        Patience.await(engine.closeAsync());
    }

    /** The peer is killed while it is written to: transfers end, and this process keeps its GPU. */
    @SuppressWarnings("SystemOut")
    private void kill(Process peer, TransferEngine engine) throws InterruptedException {
        RepeatedTransfers transfers = new RepeatedTransfers(single(true, 1 << 20, 4), 4);
        CompletableFuture<RepeatedTransfers.Result> end = CompletableFuture.supplyAsync(() -> {
            try {
                return transfers.run(0, 15_000_000_000L);
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        Thread.sleep(300);
        long killed = System.nanoTime();
        peer.destroyForcibly();
        Throwable error = end.handle((result, failure) -> failure).join();
        System.out.printf("kill: transfers ended %.1f ms later: %s%n", (System.nanoTime() - killed) / 1e6, error);
        local.checksum(0, 4096);
        Patience.await(local.close());
        System.out.printf("kill: the local region closed %.1f ms later%n", (System.nanoTime() - killed) / 1e6);
        MemoryRegion again = engine.allocate(4 << 20, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        SoftGpu.write(0, again.memory().address(), new byte[] {1, 2, 3});
        System.out.println("kill: new memory holds "
                + Arrays.toString(SoftGpu.read(0, again.memory().address(), 4)));
        Patience.await(again.close());
    }

    private static void fill(MemoryRegion region) {
        byte[] random = new byte[FILL_BYTES];
        Random source = new Random(4);
        for (long at = 0; at < region.length(); at += FILL_BYTES) {
            if (at % (16L << 20) == 0) {
                source.nextBytes(random);
            }
            // each piece differs from the others
            Arrays.fill(random, 0, 8, (byte) (at >> 20));
            SoftGpu.write(0, region.memory().address() + at, random);
        }
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftGpu.load();
        if (arguments[0].equals("serve")) {
            serve();
            return;
        }
        Process peer = peer();
        try {
            String[] ready = peer.inputReader().readLine().split(" ");
            TransferEngine engine = TransferEngine.open(options());
            MemoryRegion local =
                    engine.allocate(WINDOW_BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
            fill(local);
            Connection connection = Patience.await(engine.connect(EngineAddress.parse(ready[1])));
            RemoteRegion remote = Patience.await(connection.attach(descriptor(ready[2])));
            System.out.println("path " + remote.path().transport() + ", window "
                    + connection.window().byteLimit() + " bytes");
            GpuFigures figures = new GpuFigures(connection, remote, local);
            // until the virtual machine has compiled it
            new RepeatedTransfers(figures.single(true, 4096, 1), 1).run(0, 2 * WARMUP_MILLIS * 1_000_000);
            for (String group : arguments) {
                try {
                    switch (group) {
                        case "copies" -> figures.copies();
                        case "pages" -> figures.pages();
                        case "host" -> figures.host(engine);
                        case "busy" ->
                            new BusyFigures(
                                            ready[1],
                                            RegionDescriptor.fromBytes(
                                                    HexFormat.of().parseHex(ready[2])),
                                            WARMUP_MILLIS * 1_000_000,
                                            DURATION_MILLIS * 1_000_000)
                                    .print();
                        case "staged" ->
                            staged(EngineAddress.parse(ready[1]), descriptor(ready[2]), descriptor(ready[3]));
                        case "kill" -> figures.kill(peer, engine);
                        default -> throw new IllegalArgumentException(group);
                    }
                } catch (RuntimeException | AssertionError e) {
                    System.out.println(group + " FAILED " + e);
                    e.printStackTrace();
                }
            }
            System.out.println("most in flight: " + connection.window().maxOperationsSeen() + " operations, "
                    + connection.window().maxBytesSeen() + " bytes");
            Patience.await(engine.closeAsync());
        } finally {
            if (peer.isAlive()) {
                peer.getOutputStream().close();
            }
            if (!peer.waitFor(10, TimeUnit.SECONDS)) {
                peer.destroyForcibly();
            }
        }
    }
}
