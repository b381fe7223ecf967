package io.sluice.samples.mover.http;

import io.vertx.core.json.JsonObject;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** One event of a stream. */
record ServerSentEvent(String name, JsonObject data) {

    private static final String NAME = "event: ";
    private static final String DATA = "data: ";

    /** Events of lines, as they come. */
    static Stream<ServerSentEvent> parse(Stream<String> lines) {
        AtomicReference<String> name = new AtomicReference<>("");
        return lines.<ServerSentEvent>mapMulti((line, events) -> {
            if (line.startsWith(NAME)) {
                name.set(line.substring(NAME.length()));
            } else if (line.startsWith(DATA)) {
                events.accept(new ServerSentEvent(name.get(), new JsonObject(line.substring(DATA.length()))));
            }
        });
    }
}
