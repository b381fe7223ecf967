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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Page lists from every GPU to every other at the same time: a process for each GPU, whose engine writes lists of scattered pages into
 * the memory of all others; first two of them, then one more at a time. Argument: the number of GPUs. Properties: {@code figures.page} and
 * {@code figures.pages}, the bytes of a page and the pages of a list, {@code figures.inflight}, the lists under way to each peer,
 * {@code figures.warmup} and {@code figures.duration} in milliseconds.
 */
final class AllPairsFigures {
    private static final int PAGE_BYTES = Integer.getInteger("figures.page", 64 << 10);
    private static final int PAGES = Integer.getInteger("figures.pages", 1024);
    private static final int IN_FLIGHT = Integer.getInteger("figures.inflight", 4);
    private static final long WARMUP_MILLIS = Long.getLong("figures.warmup", 500);
    private static final long DURATION_MILLIS = Long.getLong("figures.duration", 1500);
    private static final long SIDE_BYTES = 2L * PAGES * PAGE_BYTES;
    private static final int CHECKED = 16;

    private AllPairsFigures() {}

    // ---- a process of one GPU ----

    @SuppressWarnings("SystemOut")
    private static void rank(int rank, int ranks) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .environment(System.getenv())
                .build())) {
            String gpu = SoftGpu.id(rank);
            MemoryRegion source =
                    engine.allocate(SIDE_BYTES, RegionOptions.local().on(MemoryKind.CUDA, gpu));
            // a part for each rank, so that no two write to the same
            MemoryRegion sink = engine.allocate(
                    ranks * SIDE_BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
            System.out.println("READY " + engine.address() + ' '
                    + HexFormat.of().formatHex(sink.descriptor().toBytes()));
            List<Peer> peers = new ArrayList<>();
            String[] all = in.readLine().split(" ");
            for (int i = 0; i < ranks; i++) {
                if (i != rank) {
                    Connection connection = Patience.await(engine.connect(EngineAddress.parse(all[2 * i])));
                    RegionDescriptor descriptor =
                            RegionDescriptor.fromBytes(HexFormat.of().parseHex(all[2 * i + 1]));
                    peers.add(new Peer(i, connection, Patience.await(connection.attach(descriptor))));
                }
            }
            System.out.println("ATTACHED");
            String line;
            while ((line = in.readLine()) != null) {
                // how many ranks take part
                int taking = Integer.parseInt(line);
                double rate = rank < taking ? measure(peers, rank, taking, source) : 0;
                System.out.println("RATE " + rate);
            }
        }
    }

    private record Peer(int rank, Connection connection, RemoteRegion sink) {
        /** The places of the pages: scattered here, and in the part of the sink that is this rank's. */
        int[][] places(int own) {
            int[] remotes = GpuFigures.scattered(PAGES, 17L * rank + own);
            int first = (int) (own * SIDE_BYTES / PAGE_BYTES);
            for (int i = 0; i < PAGES; i++) {
                remotes[i] += first;
            }
            return new int[][] {GpuFigures.scattered(PAGES, 31L * rank + own), remotes};
        }

        RepeatedTransfers lists(MemoryRegion source, int own) {
            int[][] places = places(own);
            return new RepeatedTransfers(
                    (slot, end) -> connection
                            .prepared()
                            .writePages(source, places[0], sink, places[1], PAGE_BYTES, RepeatedTransfers.OPTIONS, end),
                    IN_FLIGHT);
        }

        void check(MemoryRegion source, int own) {
            int[][] places = places(own);
            for (int i = 0; i < PAGES; i += Math.max(1, PAGES / CHECKED)) {
                long here = source.checksum((long) places[0][i] * PAGE_BYTES, PAGE_BYTES);
                long there = Patience.await(connection.checksum(sink, (long) places[1][i] * PAGE_BYTES, PAGE_BYTES));
                if (here != there) {
                    throw new AssertionError("page " + i + " of rank " + own + " differs at rank " + rank);
                }
            }
        }
    }

    /** The bytes a second that this rank writes to all others that take part. */
    private static double measure(List<Peer> peers, int rank, int taking, MemoryRegion source) {
        List<CompletableFuture<Double>> rates = new ArrayList<>();
        for (Peer peer : peers) {
            if (peer.rank() < taking) {
                RepeatedTransfers lists = peer.lists(source, rank);
                rates.add(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return lists.run(WARMUP_MILLIS * 1_000_000, DURATION_MILLIS * 1_000_000)
                                                .perSecond()
                                        * PAGES
                                        * PAGE_BYTES;
                            } catch (Exception e) {
                                throw new CompletionException(e);
                            }
                        },
                        task -> Thread.ofPlatform().start(task)));
            }
        }
        double sum = rates.stream().mapToDouble(CompletableFuture::join).sum();
        for (Peer peer : peers) {
            if (peer.rank() < taking) {
                peer.check(source, rank);
            }
        }
        return sum;
    }

    // ---- all of them ----

    private static Process start(int rank, int ranks) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "--enable-native-access=ALL-UNNAMED",
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        for (String name : List.of("page", "pages", "inflight", "warmup", "duration")) {
            String value = System.getProperty("figures." + name);
            if (value != null) {
                command.add("-Dfigures." + name + '=' + value);
            }
        }
        command.addAll(SoftGpu.javaOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), AllPairsFigures.class.getName()));
        command.addAll(List.of("rank", Integer.toString(rank), Integer.toString(ranks)));
        return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    }

    private static String answer(Process process, String word) throws IOException {
        String line;
        do {
            line = process.inputReader().readLine();
            if (line == null) {
                throw new IllegalStateException("a rank ended without " + word);
            }
        } while (!line.startsWith(word));
        return line.substring(word.length()).strip();
    }

    private static void tell(List<Process> processes, String line) throws IOException {
        for (Process process : processes) {
            process.outputWriter().write(line + '\n');
            process.outputWriter().flush();
        }
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftGpu.load();
        if (arguments[0].equals("rank")) {
            rank(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            return;
        }
        int gpus = Integer.parseInt(arguments[0]);
        List<Process> processes = new ArrayList<>();
        try {
            for (int i = 0; i < gpus; i++) {
                processes.add(start(i, gpus));
            }
            List<String> sinks = new ArrayList<>();
            for (Process process : processes) {
                sinks.add(answer(process, "READY"));
            }
            tell(processes, String.join(" ", sinks));
            for (Process process : processes) {
                answer(process, "ATTACHED");
            }
            double two = 0;
            for (int taking = 2; taking <= gpus; taking++) {
                tell(processes, Integer.toString(taking));
                double sum = 0;
                for (Process process : processes) {
                    sum += Double.parseDouble(answer(process, "RATE"));
                }
                two = taking == 2 ? sum / 2 : two;
                System.out.printf(
                        Locale.ROOT,
                        "%d GPUs, pages of %d bytes from each to all others: %.1f GB/s a GPU, %.2f of two GPUs%n",
                        taking,
                        PAGE_BYTES,
                        sum / taking / 1e9,
                        sum / taking / two);
            }
        } finally {
            for (Process process : processes) {
                process.outputWriter().close();
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            }
        }
    }
}
