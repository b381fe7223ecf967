package io.sluice.engine;

import java.nio.file.Path;
import java.util.List;

/**
 * Where an engine gets its {@linkplain Token tokens} from. It is asked at each handshake, so tokens can be rotated without a
 * restart: accept the new one everywhere, then present it everywhere, then take the old one out. Connections that live are
 * not touched by a rotation.
 */
@FunctionalInterface
public interface TokenSource {
    /** The most tokens that an engine accepts at a time. */
    int MAX_TOKENS = 16;

    /**
     * The tokens of this moment. Called on a thread of its own for each handshake, never on a poller, and by several threads at
     * a time; it may block, within the time-out of that handshake.
     *
     * @return 1 to {@value #MAX_TOKENS} tokens: the first is presented when this engine connects, and all are accepted of
     *     peers that connect
     * @throws SluiceException if there are none to be had; the handshake then fails
     */
    List<Token> tokens();

    /**
     * One token that stays.
     *
     * @param token presented and accepted
     * @return the source
     */
    static TokenSource of(Token token) {
        return new FixedToken(token);
    }

    /**
     * The lines of a file, of which each is {@code token} or {@code name:token}; empty ones, and those that begin with
     * {@code #}, are passed over. White space around a line is not part of it. The file is looked at once a second at most, when
     * there is a handshake, and read again if its time, its size or the file itself is another. If it cannot be read then, or is
     * not in order, the engine goes on with what it read last, and logs a warning.
     *
     * @param path of a regular file, or a link to one, of at most 64 KiB that only its owner and group may read
     * @return the source; it does not look at the file yet
     */
    static TokenSource file(Path path) {
        return new TokenFile(path);
    }
}
