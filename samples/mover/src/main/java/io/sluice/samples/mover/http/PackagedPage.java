package io.sluice.samples.mover.http;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The page that shows moves: the files that were packaged with the program, and no others. Immutable. */
record PackagedPage(Map<String, Buffer> files) implements Handler<RoutingContext> {
    /** Where its files lie on the class path. */
    static final String PLACE = "io/sluice/samples/mover/page";

    /** Their types, by their names. */
    static final Map<String, String> TYPES = Map.of(
            "index.html", "text/html;charset=UTF-8",
            "page.css", "text/css;charset=UTF-8",
            "page.js", "text/javascript;charset=UTF-8",
            "icon.svg", "image/svg+xml");

    private static final String FIRST = "/index.html";

    static Future<PackagedPage> read(Vertx vertx) {
        Map<String, Future<Buffer>> reads = new HashMap<>();
        TYPES.keySet().forEach(name -> reads.put(name, Packaged.read(vertx, PLACE + "/" + name)));
        return Future.all(List.copyOf(reads.values())).map(all -> {
            Map<String, Buffer> files = new HashMap<>();
            reads.forEach((name, read) -> files.put(name, read.result()));
            return new PackagedPage(files);
        });
    }

    @Override
    public void handle(RoutingContext context) {
        String path = context.normalizedPath();
        String name = ("/".equals(path) ? FIRST : path).substring(1);
        Buffer file = files.get(name);
        if (file == null) {
            context.next();
        } else {
            context.response().putHeader("Content-Type", TYPES.get(name)).end(file.copy());
        }
    }
}
