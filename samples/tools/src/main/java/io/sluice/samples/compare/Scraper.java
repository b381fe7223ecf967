package io.sluice.samples.compare;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scrapes a port of this machine once a second, as a monitoring server would, until it is closed. The first scrapes follow one
 * another at once: the JVM that answers has little time until it is measured, and is to have compiled what it answers with.
 */
final class Scraper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Scraper.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final int WARM_UP_SCRAPES = 100;
    private static final Duration WARM_UP_INTERVAL = Duration.ofMillis(10);
    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final int OK = 200;

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(BOUND).build();
    private final HttpRequest request;
    private final AtomicInteger scrapes = new AtomicInteger();
    private final Thread thread = Thread.ofPlatform().daemon().name("scraper").unstarted(this::run);

    private Scraper(int port) {
        request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                .timeout(BOUND)
                .build();
    }

    /** Starts; as long as nobody listens, that is no failure. */
    static Scraper start(int port) {
        Scraper scraper = new Scraper(port);
        scraper.thread.start();
        return scraper;
    }

    /** How often it was answered. */
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
            if (client.send(request, BodyHandlers.discarding()).statusCode() == OK) {
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
