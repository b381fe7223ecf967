package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/** What a process of movers tells others in a file, which is there, and whole, once they can be used. */
record MoverReady(List<Place> movers) {
    private static final ObjectMapper JSON = new ObjectMapper();

    record Place(String name, String url) {}

    static MoverReady read(Path file) throws IOException {
        return JSON.readValue(file.toFile(), MoverReady.class);
    }

    URI url(String name) {
        return movers.stream()
                .filter(mover -> mover.name().equals(name))
                .map(mover -> URI.create(mover.url()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no mover " + name + " is there"));
    }
}
