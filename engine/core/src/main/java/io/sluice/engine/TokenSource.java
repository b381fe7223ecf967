package io.sluice.engine;

import java.nio.file.Path;
import java.util.List;

/**
 * Supplies an engine's {@linkplain Token tokens}. It is called at each handshake, so tokens can be rotated without a
 * restart: accept the new one everywhere, then present it everywhere, then remove the old one. A rotation does not
 * affect open connections.
 */
@FunctionalInterface
public interface TokenSource {
    /** The most tokens that an engine accepts at once. */
    int MAX_TOKENS = 16;

    /**
     * Returns the current tokens. Called for each handshake on a separate thread, never on a poller, and possibly by
     * several threads at once. It may block, within the time-out of the handshake.
     *
     * @return 1 to {@value #MAX_TOKENS} tokens: this engine presents the first when it connects, and accepts all of
     *     them from peers
     * @throws SluiceException if there are no tokens; the handshake then fails
     */
    List<Token> tokens();

    /**
     * Returns a source of one token that never changes.
     *
     * @param token presented and accepted
     * @return the source
     */
    static TokenSource of(Token token) {
        return new FixedToken(token);
    }

    /**
     * Returns a source that reads a file. Each line is {@code token} or {@code name:token}; surrounding white space is
     * ignored, and so are empty lines and those that begin with {@code #}. At a handshake, at most once a second, the
     * file is read again if it was replaced or its time or size changed. If it cannot be read or has errors, the engine
     * keeps the tokens that it read last and logs a warning.
     *
     * @param path a regular file, or a link to one, of at most 64 KiB that only its owner and group may read
     * @return the source, which has not read the file yet
     */
    static TokenSource file(Path path) {
        return new TokenFile(path);
    }
}
