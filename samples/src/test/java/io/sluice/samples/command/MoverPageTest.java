package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.browser.Browser;
import io.sluice.samples.browser.BrowserPage;
import io.sluice.samples.browser.Chromium;
import io.sluice.samples.cluster.MoverHttpClient;
import io.sluice.samples.command.MoverCommand.MoverReady;
import io.sluice.testkit.FreePort;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of a real mover, in a real browser, used by mouse and keyboard. */
class MoverPageTest {

    private static final Duration BOUND = SluiceProcess.BOUND;
    private static final Duration POLL = Duration.ofMillis(50);
    private static final String DECODE = "decode/a";
    private static final String PREFILL = "prefill/a";

    /** Half a million small transfers, two at a time: that takes far longer than what is done with it. */
    private static final Map<String, String> SMALL_WINDOW = Map.of("SLUICE_ENGINE_WINDOW_OPERATIONS", "2");

    /** The blocks of a cancelled move stay, so a test that needs a long move at full speed has its own pool. */
    private static final String UNPACED_POOL = "unpaced";

    /** At 1 MB/s it lasts for all others, for minutes. */
    private static final String SLOW_POOL = "slow";

    private static final int SLOW_BLOCKS = 4096;
    private static final int SLOW_LAYERS = 64;
    private static final int SLOW_PAGE_BYTES = 1024;

    private static final Set<String> NEED_NAMES =
            Set.of("button", "textbox", "spinbutton", "combobox", "progressbar", "meter", "list", "region", "status");

    /** The contrast between a text and what is behind it, at least (WCAG 2.2, 1.4.3). */
    private static final double CONTRAST = 4.5;

    /** All texts that are shown, with their contrast; a background that is not opaque shows what is behind it. */
    private static final String CONTRASTS = """
            (() => {
              const channels = color => color.match(/[\\d.]+/g).map(Number);
              const luminance = color => {
                const [r, g, b] = channels(color).map(c => c / 255).map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const opaque = color => channels(color).length === 3 || channels(color)[3] === 1;
              const ground = element => {
                for (let e = element; e !== null; e = e.parentElement) {
                  const color = getComputedStyle(e).backgroundColor;
                  if (opaque(color)) return color;
                }
                return 'rgb(255, 255, 255)';
              };
              return [...document.body.querySelectorAll('*')]
                .filter(e => e.checkVisibility() && !e.closest('.unseen, .skip, noscript, option')
                  && [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim() !== ''))
                .map(e => {
                  const [one, other] = [luminance(getComputedStyle(e).color), luminance(ground(e))].sort((a, b) => b - a);
                  return { text: e.textContent.trim().slice(0, 60), contrast: (one + 0.05) / (other + 0.05) };
                });
            })()""";

    @TempDir
    private static Path folder;

    private static Browser browser;
    private static SluiceProcess mover;
    private static URI address;

    @BeforeAll
    static void startMover() throws IOException {
        Chromium.assumeInstalled("the mover's page is not tested");
        mover = start(FreePort.firstOf(2));
        browser = Browser.start(folder);
    }

    @AfterAll
    static void endMover() {
        if (browser != null) {
            browser.close();
        }
        if (mover != null) {
            mover.close();
        }
    }

    private static SluiceProcess start(int port) throws IOException {
        Path ready = folder.resolve("ready-" + System.nanoTime() + ".json");
        SluiceProcess started = SluiceProcess.start(
                folder,
                SMALL_WINDOW,
                "mover",
                "--http-port",
                Integer.toString(port),
                "--transport",
                "tcp",
                "--pool",
                "192MiB",
                "--ready-file",
                ready.toString());
        started.awaitReady(ready);
        MoverReady movers = MoverReady.read(ready);
        address = movers.url(DECODE).resolve("/");
        try (MoverHttpClient decode = new MoverHttpClient(address);
                MoverHttpClient prefill = new MoverHttpClient(movers.url(PREFILL))) {
            for (String pool : List.of(SLOW_POOL, UNPACED_POOL)) {
                for (MoverHttpClient each : List.of(decode, prefill)) {
                    post(
                            each,
                            "/api/pools",
                            Map.of(
                                    "name", pool,
                                    "layers", SLOW_LAYERS,
                                    "pageBytes", SLOW_PAGE_BYTES,
                                    "blocks", SLOW_BLOCKS));
                }
                post(prefill, "/api/blocks", Map.of("pool", pool, "count", SLOW_BLOCKS));
            }
        }
        return started;
    }

    @Test
    void aMoveIsSeenToGoAndIsCancelledByTheMouse() throws IOException {
        try (BrowserPage page = open();
                MoverHttpClient api = new MoverHttpClient(address)) {
            // One that is paced has nothing in flight most of the time.
            String id = startUnpacedMove(page);
            String row = row(id);
            awaitText(page, row + " .state", "running");
            double seen = awaitProgress(page, id, 0);
            assertThat(awaitProgress(page, id, seen)).as("it goes on").isGreaterThan(seen);
            await("a bandwidth")
                    .atMost(BOUND)
                    .until(() -> page.text("#bandwidth").matches("[1-9][\\d.]* [kMG]?B/s"));
            await("something in flight")
                    .pollInterval(POLL)
                    .atMost(BOUND)
                    .until(() -> page.text("#in-flight").matches("[1-9]\\d* of [1-9]\\d*"));
            await("a line")
                    .atMost(BOUND)
                    .until(() -> page.evaluate("document.getElementById('bandwidth-line').points.numberOfItems")
                                    .asInt()
                            > 0);
            awaitText(page, "#under-way", "1");

            page.click(row + " .cancel");

            awaitText(page, row + " .state", "cancelled");
            assertThat(api.move(id).state()).isEqualTo("CANCELLED");
            await("its credits are back")
                    .atMost(BOUND)
                    .until(() -> page.text("#in-flight").startsWith("0 of "));
            awaitText(page, "#under-way", "0");
            assertThat(page.text(row + " .cancel"))
                    .as("nothing is left to cancel")
                    .isEmpty();
            assertThat(progress(page, id)).isLessThan(1);
            assertThat(page.complaints()).isEmpty();
        }
    }

    @Test
    void theKeyboardIsEnough() throws IOException {
        try (BrowserPage page = open()) {
            String before = newest(page);
            chooseSlow(page);
            page.focus("#new-count");
            for (String next : List.of("new-rate", "new-hashes", "new-submit")) {
                page.pressTab();
                assertThat(page.evaluate("document.activeElement.id").asText()).isEqualTo(next);
            }
            page.pressEnter();
            String id = awaitNewer(page, before);
            page.focus("#moves");
            page.pressTab();
            assertThat(page.evaluate("document.activeElement.getAttribute('aria-label')")
                            .asText())
                    .isEqualTo("Cancel move " + id);
            page.pressEnter();
            awaitText(page, row(id) + " .state", "cancelled");
            await("the focus is not lost with the button")
                    .atMost(BOUND)
                    .until(() -> page.evaluate("document.activeElement.dataset.move")
                            .asText()
                            .equals(id));
            await("what a screen reader says")
                    .atMost(BOUND)
                    .until(() -> page.evaluate("document.getElementById('announcements').textContent")
                            .asText()
                            .contains("Move " + id + " is cancelled"));
            assertThat(page.complaints()).isEmpty();
        }
    }

    @Test
    void aMoveThatEndsIsDone() throws IOException {
        try (BrowserPage page = open()) {
            String before = newest(page);
            page.click("#new-submit");
            String id = awaitNewer(page, before);
            awaitText(page, row(id) + " .state", "done");
            assertThat(progress(page, id)).isEqualTo(1);
            // as another page would, which comes later
            try (BrowserPage later = open()) {
                awaitText(later, row(id) + " .state", "done");
            }
        }
    }

    @Test
    void whatGoesWrongIsToldWithWhatToDo() throws IOException {
        try (BrowserPage page = open()) {
            String before = newest(page);
            page.focus("#new-hashes");
            page.type("dead beef");
            page.click("#new-submit");
            String id = awaitNewer(page, before);
            awaitText(page, row(id) + " .state", "failed");
            assertThat(page.text(row(id) + " .why")).contains("000000000000dead", "GET /api/blocks");

            page.focus("#new-hashes");
            page.type(" no-hash");
            page.click("#new-submit");
            await("the problem")
                    .atMost(BOUND)
                    .until(() -> !page.text("#problem-text").isEmpty());
            assertThat(page.text("#problem-text")).contains("was not started", "/openapi.yaml");
            page.click("#problem-dismiss");
            assertThat(page.text("#problem-text")).isEmpty();
        }
    }

    @Test
    @Tag("soak")
    void aLostMoverIsFoundAgain() throws IOException {
        try (BrowserPage page = open()) {
            mover.close();
            await("the loss").atMost(BOUND).until(() -> page.text("#connection").contains("Not connected"));
            awaitText(page, "#bandwidth", "no data");
            mover = start(address.getPort());
            awaitText(page, "#connection", "Live");
            await("what the new one knows").atMost(BOUND).until(() -> page.count("#moves li") == 0);
            assertThat(page.text("#moves-empty")).startsWith("No moves yet");
        }
    }

    @Test
    void nothingComesFromElsewhere() throws IOException {
        try (BrowserPage page = open()) {
            JsonNode loaded =
                    page.evaluate("performance.getEntriesByType('resource').map(entry => new URL(entry.name).origin)");
            assertThat(loaded)
                    .isNotEmpty()
                    .allSatisfy(origin -> assertThat(URI.create(origin.asText()))
                            .isEqualTo(URI.create("http://" + address.getAuthority())));
            assertThat(page.evaluate("fetch('/').then(r => r.headers.get('content-security-policy'))")
                            .asText())
                    .contains("default-src 'self'")
                    .doesNotContain("unsafe");
            // the policy is obeyed: an inline script does not run
            page.evaluate("""
                    document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))""");
            assertThat(page.evaluate("window.ran === undefined").asBoolean()).isTrue();
        }
    }

    @Test
    @Tag("soak")
    void everyTextCanBeRead() throws IOException {
        try (BrowserPage page = open()) {
            String id = startSlowMove(page);
            awaitProgress(page, id, 0);
            page.evaluate("document.getElementById('problem-text').textContent = 'A problem'");
            page.evaluate("document.getElementById('problem').hidden = false");
            for (String scheme : List.of("light", "dark")) {
                page.colorScheme(scheme);
                assertThat(page.evaluate(
                                        "getComputedStyle(document.body).colorScheme + ' ' + matchMedia('(prefers-color-scheme: dark)').matches")
                                .asText())
                        .endsWith(Boolean.toString(scheme.equals("dark")));
                List<String> faint = new ArrayList<>();
                JsonNode contrasts = page.evaluate(CONTRASTS);
                contrasts.forEach(text -> {
                    if (text.path("contrast").asDouble() < CONTRAST) {
                        faint.add(text.toString());
                    }
                });
                assertThat(contrasts).hasSizeGreaterThan(10);
                assertThat(faint).as(scheme).isEmpty();
                page.shoot(picture(scheme));
            }
            page.click(row(id) + " .cancel");
            awaitText(page, row(id) + " .state", "cancelled");
        }
    }

    @Test
    @Tag("soak")
    void nothingSticksOut() throws IOException {
        try (BrowserPage page = open()) {
            String id = startSlowMove(page);
            awaitProgress(page, id, 0);
            for (int width : List.of(320, 700, 1600)) {
                page.width(width);
                assertThat(page.evaluate("document.documentElement.scrollWidth").asInt())
                        .isLessThanOrEqualTo(width);
                page.shoot(picture(Integer.toString(width)));
            }
            page.click(row(id) + " .cancel");
            awaitText(page, row(id) + " .state", "cancelled");
        }
    }

    @Test
    void everythingHasANameForAScreenReader() throws IOException {
        try (BrowserPage page = open()) {
            String id = startSlowMove(page);
            awaitProgress(page, id, 0);
            List<String> roles = new ArrayList<>();
            List<String> nameless = new ArrayList<>();
            for (JsonNode node : page.accessibilityTree()) {
                String role = node.at("/role/value").asText();
                if (!node.path("ignored").asBoolean() && NEED_NAMES.contains(role)) {
                    roles.add(role);
                    if (node.at("/name/value").asText().isBlank() && !role.equals("status")) {
                        nameless.add(node.toString());
                    }
                }
            }
            page.click(row(id) + " .cancel");
            awaitText(page, row(id) + " .state", "cancelled");
            assertThat(nameless).isEmpty();
            assertThat(roles).contains("button", "textbox", "spinbutton", "combobox", "progressbar", "meter", "status");
        }
    }

    private static BrowserPage open() {
        BrowserPage page = browser.open(address);
        awaitText(page, "#connection", "Live");
        await("peers, pools and moves")
                .atMost(BOUND)
                .until(() -> page.count("#new-peer option") == 1
                        && page.count("#new-pool option") == 3
                        && page.text("#under-way").matches("\\d+"));
        return page;
    }

    /** Begins a move by the form that takes minutes; its id. */
    private static String startSlowMove(BrowserPage page) {
        String before = newest(page);
        chooseSlow(page);
        page.click("#new-submit");
        return awaitNewer(page, before);
    }

    /** Begins a move by the form that is as fast as it can be, and still takes seconds; its id. For one test alone. */
    private static String startUnpacedMove(BrowserPage page) {
        String before = newest(page);
        choose(page, UNPACED_POOL);
        page.click("#new-submit");
        return awaitNewer(page, before);
    }

    private static void chooseSlow(BrowserPage page) {
        choose(page, SLOW_POOL);
        page.evaluate("document.getElementById('new-rate').value = 1");
    }

    private static void choose(BrowserPage page, String pool) {
        page.evaluate("document.getElementById('new-pool').value = '" + pool + "'");
        page.evaluate("document.getElementById('new-count').value = " + SLOW_BLOCKS);
    }

    /** Waits for a move that was not there before; its id. */
    private static String awaitNewer(BrowserPage page, String before) {
        await("a new move")
                .pollInterval(POLL)
                .atMost(BOUND)
                .until(() -> !newest(page).equals(before));
        return newest(page);
    }

    /** The id of the first move that is shown; empty if there is none. */
    private static String newest(BrowserPage page) {
        return page.evaluate("document.querySelector('#moves li:first-child')?.dataset.move ?? ''")
                .asText();
    }

    private static String row(String id) {
        return "#moves li[data-move=\"" + id + "\"]";
    }

    /** Waits until a move has come further than so far, as a share of the whole. */
    private static double awaitProgress(BrowserPage page, String id, double than) {
        await("progress").pollInterval(POLL).atMost(BOUND).until(() -> progress(page, id) > than);
        return progress(page, id);
    }

    private static double progress(BrowserPage page, String id) {
        return page.evaluate("document.querySelector('li[data-move=\"" + id + "\"] progress').position")
                .asDouble();
    }

    private static void awaitText(BrowserPage page, String selector, String text) {
        await(selector + " says " + text)
                .pollInterval(POLL)
                .atMost(BOUND)
                .until(() -> page.text(selector).strip(), text::equals);
    }

    private static Path picture(String name) throws IOException {
        return Files.createDirectories(Path.of("target", "mover-page")).resolve(name + ".png");
    }

    private static void post(MoverHttpClient mover, String path, Map<String, Object> body) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) mover.address().resolve(path).toURL().openConnection();
        connection.setRequestMethod("POST");
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
            new ObjectMapper().writeValue(out, body);
        }
        assertThat(connection.getResponseCode()).isBetween(200, 299);
    }
}
