package io.sluice.samples.mover.http;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The page that shows moves: the files that were packaged with the program, and no others. They are read by the class loader: Vert.x
 * looks for them in the working directory first, and would take what lies there under the same name. Immutable.
 */
record PackagedPage(Map<String, Buffer> files) implements Handler<RoutingContext> {
    static final String PLACE = "io/sluice/samples/mover/page";

    static final Map<String, String> TYPES = Map.of(
            "index.html", "text/html;charset=UTF-8",
            "page.css", "text/css;charset=UTF-8",
            "page.js", "text/javascript;charset=UTF-8",
            "icon.svg", "image/svg+xml");

    static Future<PackagedPage> read(Vertx vertx) {
        Map<String, Future<Buffer>> reads = new HashMap<>();
        TYPES.keySet().forEach(name -> reads.put(name, file(vertx, PLACE + "/" + name)));
        return Future.all(List.copyOf(reads.values())).map(all -> {
            Map<String, Buffer> files = new HashMap<>();
            reads.forEach((name, read) -> files.put(name, read.result()));
            return new PackagedPage(files);
        });
    }

    /**
     * Reads a file that the program brings along, on a thread that may block.
     *
     * @param place on the class path
     * @return what it holds; fails with an {@link IOException} if it is not there or cannot be read
     */
    static Future<Buffer> file(Vertx vertx, String place) {
        return vertx.executeBlocking(() -> Buffer.buffer(bytes(place))).map(Objects::requireNonNull);
    }

    private static byte[] bytes(String place) throws IOException {
        try (InputStream in = PackagedPage.class.getResourceAsStream("/" + place)) {
            if (in == null) {
                throw new FileNotFoundException("the class path lacks " + place + "; build the program again");
            }
            return in.readAllBytes();
        }
    }

    @Override
    public void handle(RoutingContext context) {
        String path = context.normalizedPath();
        String name = ("/".equals(path) ? "/index.html" : path).substring(1);
        Buffer file = files.get(name);
        if (file == null) {
            context.next();
        } else {
            context.response().putHeader("Content-Type", TYPES.get(name)).end(file.copy());
        }
    }
}
