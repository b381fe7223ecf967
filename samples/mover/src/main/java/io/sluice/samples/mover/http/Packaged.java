package io.sluice.samples.mover.http;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Files that the program brings along. They are read by the class loader: Vert.x looks for them in the working directory
 * first, and would take what lies there under the same name.
 */
final class Packaged {

    private Packaged() {}

    /**
     * Reads one, on a thread that may block.
     *
     * @param place on the class path
     * @return what it holds; fails with an {@link IOException} if it is not there or cannot be read
     */
    static Future<Buffer> read(Vertx vertx, String place) {
        return vertx.executeBlocking(() -> Buffer.buffer(bytes(place))).map(Objects::requireNonNull);
    }

    private static byte[] bytes(String place) throws IOException {
        try (InputStream in = Packaged.class.getResourceAsStream("/" + place)) {
            if (in == null) {
                throw new FileNotFoundException("the class path lacks " + place + "; build the program again");
            }
            return in.readAllBytes();
        }
    }
}
