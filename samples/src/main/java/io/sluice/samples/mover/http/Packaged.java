package io.sluice.samples.mover.http;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Files that the program brings along. They are read by the class loader: Vert.x looks for them in the working directory
 * first, and would take what lies there under the same name.
 */
final class Packaged {

    private Packaged() {}

    /**
     * Reads one. Blocks.
     *
     * @param place on the class path
     * @throws IOException if it is not there or cannot be read
     */
    static byte[] read(String place) throws IOException {
        try (InputStream in = Packaged.class.getResourceAsStream("/" + place)) {
            if (in == null) {
                throw new FileNotFoundException("the class path lacks " + place + "; build the program again");
            }
            return in.readAllBytes();
        }
    }
}
