package io.sluice.samples.mover.peer;

import io.sluice.samples.mover.problem.Problem;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** A message between movers: a question, its answer, or the end of a lease. */
sealed interface PeerMessage {
    Buffer encode();

    record Question(long id, PeerQuestion what, JsonObject body) implements PeerMessage {
        @Override
        public Buffer encode() {
            return new JsonObject()
                    .put("question", id)
                    .put("what", what.name())
                    .put("body", body)
                    .toBuffer();
        }
    }

    /** An answer: a body, or the problem why there is none. */
    record Answer(
            long id, @Nullable JsonObject body, @Nullable Problem problem) implements PeerMessage {
        @Override
        public Buffer encode() {
            JsonObject json = new JsonObject().put("answer", id);
            if (problem == null) {
                json.put("body", body);
            } else {
                json.put("problem", problem.toJson());
            }
            return json.toBuffer();
        }
    }

    /** A lease is not used any more: nothing reads or writes what it covers. */
    record Release(long lease) implements PeerMessage {
        @Override
        public Buffer encode() {
            return new JsonObject().put("release", lease).toBuffer();
        }
    }

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is none
     */
    static PeerMessage decode(Buffer buffer) {
        try {
            JsonObject json = new JsonObject(buffer);
            if (json.containsKey("question")) {
                return new Question(
                        json.getLong("question"),
                        PeerQuestion.valueOf(json.getString("what")),
                        json.getJsonObject("body", new JsonObject()));
            }
            if (json.containsKey("answer")) {
                JsonObject problem = json.getJsonObject("problem");
                return new Answer(
                        json.getLong("answer"),
                        json.getJsonObject("body", new JsonObject()),
                        problem == null ? null : Problem.fromJson(problem));
            }
            return new Release(json.getLong("release"));
        } catch (RuntimeException wrong) {
            // Another type, a member that is missing, no JSON at all.
            throw new IllegalArgumentException("not a message of a mover", wrong);
        }
    }

    /** The operations that movers request of each other by notifications of their connection. */
    public enum PeerQuestion {
        /** Which blocks are there: {@code pool}, {@code skip}, {@code limit}; the answer has {@code hashes} and {@code total}. */
        BLOCKS,
        /** Keep blocks for being read: {@code pool}, {@code hashes}; the answer has a lease and a slot for each, or -1. */
        LOCATE,
        /** Keep slots for being written: as above; -1 for what is there already, -2 where there is no room. */
        OFFER,
        /** All is written: {@code lease}; the answer has {@code corruptedPages}. Ends the lease. */
        COMMIT;

        /** Whether an answer to it has a lease, which is to be given back. */
        boolean grants() {
            return this == LOCATE || this == OFFER;
        }
    }
}
