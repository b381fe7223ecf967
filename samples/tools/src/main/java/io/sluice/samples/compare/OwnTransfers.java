package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Transfers of this engine, as {@code sluice bench} measures them, between processes of their own. */
record OwnTransfers(Transfers transfers, Api api) implements Measurement {

    /** Of less the copy is not the most. */
    private static final long LEAST_COPIED = 64L << 10;

    private static final String COPIED = "memcpy_gigabytes_per_second";

    private static final String ALLOCATED = "transfer_threads_bytes_per_transfer";

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + transfers.description() + ", " + api + " API";
    }

    @Override
    public Figures run(BenchEnvironment all) throws MeasurementFailedException {
        BenchEnvironment workbench = transfers.route().isBound() ? all : all.unpinned();
        Map<String, String> environment = new HashMap<>(transfers.idle().environment());
        environment.putAll(transfers.route().environment());
        environment.putAll(transfers.security().environment(workbench.folder()));
        List<String> arguments = arguments(workbench.timing());
        return transfers.isScraped()
                ? scraped(workbench, environment, arguments)
                : figures(workbench.runOwn(label(), environment, arguments));
    }

    private Figures scraped(BenchEnvironment workbench, Map<String, String> environment, List<String> arguments)
            throws MeasurementFailedException {
        int port = LoopbackPort.free();
        arguments.addAll(List.of("--metrics-port", Integer.toString(port)));
        try (Scraper scraper = Scraper.start(port)) {
            Figures figures = figures(workbench.runOwn(label(), environment, arguments));
            if (scraper.scrapes() == 0) {
                throw new MeasurementFailedException(label() + ": it was never scraped");
            }
            return figures;
        }
    }

    private List<String> arguments(Timing timing) {
        String line = "bench --loopback " + transfers.route().options()
                + " --regions " + transfers.route().regions()
                + " --op " + transfers.operation() + " --api " + api
                + (transfers.operation() == BenchOperation.CONNECT ? "" : elements())
                + (copiesToo() ? " --memcpy" : "")
                + " --duration " + timing.duration().toMillis() + "ms --warmup "
                + timing.warmup().toMillis() + "ms --json -";
        return new ArrayList<>(List.of(line.split(" ")));
    }

    private String elements() {
        return " --size " + transfers.size()
                + (transfers.operation().isVectored() ? " --iov " + transfers.iov() : "")
                + " --inflight " + transfers.inflight()
                + (transfers.connections() > 1 ? " --connections " + transfers.connections() : "")
                + " --buffers " + transfers.buffers();
    }

    /** Where the copy is what a transfer takes. */
    private boolean copiesToo() {
        return !transfers.operation().isVectored()
                && transfers.connections() == 1
                && transfers.route() == Route.SHM
                && transfers.size() >= LEAST_COPIED
                && !transfers.isScraped();
    }

    static Figures figures(String output) throws MeasurementFailedException {
        JsonNode line = BenchLine.of(output);
        if (line.path("errors").asLong(-1) != 0) {
            throw new MeasurementFailedException("transfers that failed: " + line.path("errors"));
        }
        return new Figures(
                line.path("op").asText().equals(BenchOperation.CONNECT.toString()) ? ofConnects(line) : ofBytes(line));
    }

    private static Map<Quantity, Double> ofConnects(JsonNode line) {
        Map<Quantity, Double> values = latency(line);
        values.put(
                Quantity.CONNECTS_PER_SECOND, line.path("transfers_per_second").asDouble());
        return values;
    }

    private static Map<Quantity, Double> latency(JsonNode line) {
        Map<Quantity, Double> values = new EnumMap<>(Quantity.class);
        JsonNode latency = line.path("latency_us");
        double median = latency.path("p50").asDouble();
        values.put(Quantity.MEDIAN_MICROSECONDS, median);
        if (latency.has("p99") && median > 0) {
            values.put(Quantity.TAIL, latency.path("p99").asDouble() / median);
        }
        return values;
    }

    private static Map<Quantity, Double> ofBytes(JsonNode line) {
        Map<Quantity, Double> values = latency(line);
        values.put(
                Quantity.GIGABYTES_PER_SECOND, line.path("gigabytes_per_second").asDouble());
        double transfersPerSecond = line.path("transfers_per_second").asDouble();
        values.put(Quantity.TRANSFERS_PER_SECOND, transfersPerSecond);
        values.put(
                Quantity.ELEMENTS_PER_SECOND,
                transfersPerSecond * line.path("iov").asInt(1));
        double gigabytes = line.path("bytes").asDouble() / 1e9;
        if (gigabytes > 0) {
            putIfTold(values, Quantity.INITIATOR_SECONDS_PER_GIGABYTE, line.path("client_cpu_seconds"), gigabytes);
            putIfTold(values, Quantity.TARGET_SECONDS_PER_GIGABYTE, line.path("server_cpu_seconds"), gigabytes);
        }
        if (line.has(ALLOCATED)) {
            values.put(Quantity.ALLOCATED_BYTES, line.path(ALLOCATED).asDouble());
        }
        if (line.path(COPIED).isNumber()) {
            values.put(Quantity.MEMCPY_GIGABYTES_PER_SECOND, line.path(COPIED).asDouble());
        }
        return values;
    }

    /** In a short time there may be none that the system counts. */
    private static void putIfTold(Map<Quantity, Double> values, Quantity quantity, JsonNode seconds, double gigabytes) {
        if (seconds.asDouble() > 0) {
            values.put(quantity, seconds.asDouble() / gigabytes);
        }
    }

    /**
     * Scrapes a port of this machine once a second, as a monitoring server would, until it is closed. The first scrapes follow one
     * another at once: the JVM that answers has little time until it is measured, and is to have compiled what it answers with.
     */
    static final class Scraper implements AutoCloseable {
        private static final Logger LOG = LoggerFactory.getLogger(Scraper.class);
        private static final Duration INTERVAL = Duration.ofSeconds(1);
        private static final int WARM_UP_SCRAPES = 100;
        private static final Duration WARM_UP_INTERVAL = Duration.ofMillis(10);
        private static final Duration BOUND = Duration.ofSeconds(10);

        private final HttpClient client =
                HttpClient.newBuilder().connectTimeout(BOUND).build();
        private final HttpRequest request;
        private final AtomicInteger scrapes = new AtomicInteger();
        private final Thread thread =
                Thread.ofPlatform().daemon().name("scraper").unstarted(this::run);

        private Scraper(int port) {
            request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                    .timeout(BOUND)
                    .build();
        }

        /** Starts; a port without a listener is no failure. */
        static Scraper start(int port) {
            Scraper scraper = new Scraper(port);
            scraper.thread.start();
            return scraper;
        }

        int scrapes() {
            return scrapes.get();
        }

        private void run() {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    scrape();
                    Thread.sleep(scrapes.get() < WARM_UP_SCRAPES ? WARM_UP_INTERVAL : INTERVAL);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void scrape() throws InterruptedException {
            try {
                if (client.send(request, BodyHandlers.discarding()).statusCode() == 200) {
                    scrapes.incrementAndGet();
                }
            } catch (IOException notYetOrNotAnyMore) {
                LOG.trace("not answered", notYetOrNotAnyMore);
            }
        }

        @Override
        public void close() {
            thread.interrupt();
            client.shutdownNow();
        }
    }
}
