package io.sluice.samples.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/** A mover has answered that something cannot be done. */
public final class MoverProblemException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String kind;

    MoverProblemException(JsonNode problem) {
        super(problem.path("title").asText() + ": " + problem.path("detail").asText());
        this.kind = kind(problem);
    }

    /** Which kind of problem it is, such as {@code unknown-peer}. */
    public String kind() {
        return kind;
    }

    /** The last part of a problem's type. */
    static String kind(JsonNode problem) {
        String type = problem.path("type").asText();
        return type.substring(type.lastIndexOf(':') + 1);
    }
}
