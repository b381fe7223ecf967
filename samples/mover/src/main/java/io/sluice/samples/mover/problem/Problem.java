package io.sluice.samples.mover.problem;

import io.vertx.core.json.JsonObject;

/**
 * An error and its remedy: a problem as RFC 9457 describes it, with an {@code action} as a further member.
 *
 * @param kind which one, a word or two with hyphens; {@code type} is made of it
 * @param title the same words for each problem of this kind
 * @param detail what happened this time
 * @param action what to do about it
 */
public record Problem(String kind, int status, String title, String detail, String action) {
    public static final String MEDIA_TYPE = "application/problem+json";

    private static final String TYPE = "urn:sluice:problem:";

    public JsonObject toJson() {
        return new JsonObject()
                .put("type", TYPE + kind)
                .put("title", title)
                .put("status", status)
                .put("detail", detail)
                .put("action", action);
    }

    /** Parses the JSON of {@link #toJson()}. */
    public static Problem fromJson(JsonObject json) {
        String type = json.getString("type", "");
        return new Problem(
                type.startsWith(TYPE) ? type.substring(TYPE.length()) : type,
                json.getInteger("status", Problems.INTERNAL.status()),
                json.getString("title", ""),
                json.getString("detail", ""),
                json.getString("action", ""));
    }

    /** To be thrown, or to fail a future with. */
    public ProblemException asException() {
        return new ProblemException(this);
    }

    /** A problem as an exception. It has no stack trace: it tells its reader all there is. */
    public static final class ProblemException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Problem problem;

        ProblemException(Problem problem) {
            super(problem.detail(), null, false, false);
            this.problem = problem;
        }

        public Problem problem() {
            return problem;
        }
    }
}
