package io.sluice.samples.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A page of a {@link Browser}, which is used by mouse and keyboard as a person would use it. */
public final class BrowserPage implements AutoCloseable {

    private static final Duration BOUND = Patience.BOUND;
    private static final int MOBILE_HEIGHT = 800;

    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final DevTools devTools;
    private final String target;
    private final String session;

    BrowserPage(URI browser, URI page) {
        this.devTools = DevTools.connect(browser, this::note);
        this.target = devTools.call(
                        "", "Target.createTarget", DevTools.parameters().put("url", "about:blank"))
                .path("targetId")
                .asText();
        this.session = devTools.call(
                        "",
                        "Target.attachToTarget",
                        DevTools.parameters().put("targetId", target).put("flatten", true))
                .path("sessionId")
                .asText();
        call("Page.enable");
        call("Runtime.enable");
        call("Log.enable");
        navigate(page);
    }

    private void note(String event, JsonNode parameters) {
        switch (event) {
            case "Runtime.exceptionThrown" -> complaints.add(parameters.toString());
            case "Log.entryAdded" -> {
                if (parameters.at("/entry/level").asText().equals("error")) {
                    complaints.add(parameters.path("entry").toString());
                }
            }
            case "Runtime.consoleAPICalled" -> {
                if (parameters.path("type").asText().equals("error")) {
                    complaints.add(parameters.toString());
                }
            }
            default -> {}
        }
    }

    private JsonNode call(String method) {
        return call(method, DevTools.parameters());
    }

    private JsonNode call(String method, ObjectNode parameters) {
        return devTools.call(session, method, parameters);
    }

    private void navigate(URI page) {
        JsonNode answer = call("Page.navigate", DevTools.parameters().put("url", page.toString()));
        assertThat(answer.path("errorText").asText()).isEmpty();
        await("the page")
                .atMost(BOUND)
                .until(() -> evaluate("document.readyState").asText().equals("complete"));
    }

    /** Errors of the page and its scripts, and violations of its security policy so far. */
    public List<String> complaints() {
        return List.copyOf(complaints);
    }

    /** The value of an expression, which may be a promise. */
    public JsonNode evaluate(String expression) {
        JsonNode answer = call(
                "Runtime.evaluate",
                DevTools.parameters()
                        .put("expression", expression)
                        .put("returnByValue", true)
                        .put("awaitPromise", true));
        assertThat(answer.has("exceptionDetails")).as(answer.toString()).isFalse();
        return answer.at("/result/value");
    }

    /** The text of the first element that a selector finds, as it is shown; empty if there is none or it is not shown. */
    public String text(String selector) {
        return evaluate("(e => (e?.checkVisibility() ? e.innerText : ''))(document.querySelector(" + quoted(selector)
                        + "))")
                .asText();
    }

    /** How many elements a selector finds. */
    public int count(String selector) {
        return evaluate("document.querySelectorAll(" + quoted(selector) + ").length")
                .asInt();
    }

    /** Presses the mouse in the middle of an element, which nothing may cover. */
    public void click(String selector) {
        JsonNode middle = evaluate("""
                (() => {
                  const element = document.querySelector(%s);
                  if (element === null) return null;
                  element.scrollIntoView({ block: 'center', behavior: 'instant' });
                  const box = element.getBoundingClientRect();
                  const x = box.x + box.width / 2, y = box.y + box.height / 2;
                  return { x, y, there: element.contains(document.elementFromPoint(x, y)) };
                })()""".formatted(quoted(selector)));
        assertThat(middle.path("there").asBoolean())
                .as("%s can be clicked: %s", selector, middle)
                .isTrue();
        for (String type : List.of("mousePressed", "mouseReleased")) {
            call(
                    "Input.dispatchMouseEvent",
                    DevTools.parameters()
                            .put("type", type)
                            .put("x", middle.path("x").asDouble())
                            .put("y", middle.path("y").asDouble())
                            .put("button", "left")
                            .put("clickCount", 1));
        }
    }

    /** Gives an element the focus. */
    public void focus(String selector) {
        evaluate("document.querySelector(" + quoted(selector) + ").focus()");
    }

    /** Presses the Enter key, for what has the focus. */
    public void pressEnter() {
        for (String type : List.of("keyDown", "keyUp")) {
            ObjectNode parameters = DevTools.parameters()
                    .put("type", type)
                    .put("key", "Enter")
                    .put("code", "Enter")
                    .put("windowsVirtualKeyCode", 13);
            if (type.equals("keyDown")) {
                parameters.put("text", "\r");
            }
            call("Input.dispatchKeyEvent", parameters);
        }
    }

    /** Presses the Tab key. */
    public void pressTab() {
        for (String type : List.of("keyDown", "keyUp")) {
            call(
                    "Input.dispatchKeyEvent",
                    DevTools.parameters()
                            .put("type", type)
                            .put("key", "Tab")
                            .put("code", "Tab")
                            .put("windowsVirtualKeyCode", 9));
        }
    }

    /** Types a text into what has the focus. */
    public void type(String text) {
        call("Input.insertText", DevTools.parameters().put("text", text));
    }

    /** As on a screen of this width. */
    public void width(int pixels) {
        call(
                "Emulation.setDeviceMetricsOverride",
                DevTools.parameters()
                        .put("width", pixels)
                        .put("height", MOBILE_HEIGHT)
                        .put("deviceScaleFactor", 1)
                        .put("mobile", false));
    }

    /** As for a person who prefers this colour scheme: {@code light} or {@code dark}. */
    public void colorScheme(String scheme) {
        ObjectNode parameters = DevTools.parameters();
        parameters
                .putArray("features")
                .addObject()
                .put("name", "prefers-color-scheme")
                .put("value", scheme);
        call("Emulation.setEmulatedMedia", parameters);
    }

    /** All of the page as a screen reader is told it: role, name and the like of each node. */
    public JsonNode accessibilityTree() {
        call("Accessibility.enable");
        return call("Accessibility.getFullAXTree").path("nodes");
    }

    /** Draws all of the page into a PNG. */
    public void shoot(Path picture) throws IOException {
        JsonNode answer = call("Page.captureScreenshot", DevTools.parameters().put("captureBeyondViewport", true));
        Files.write(picture, Base64.getDecoder().decode(answer.path("data").asText()));
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    @Override
    public void close() {
        try {
            devTools.call("", "Target.closeTarget", DevTools.parameters().put("targetId", target));
        } finally {
            devTools.close();
        }
    }
}
