package io.sluice.engine.bootstrap;

import io.sluice.engine.Token;
import io.sluice.engine.security.Hmac;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells the accepting side which of several tokens the connecting side will prove to know. It covers the nonce of the
 * handshake, so two handshakes with the same token have nothing in common. It proves nothing.
 */
final class TokenHint {
    private static final int BYTES = 16;

    private TokenHint() {}

    static byte[] of(Token token, byte[] nonce) {
        byte[] key = SessionSecret.digest(token.secret());
        return Arrays.copyOf(Hmac.of(key, "sluice 1 token", nonce), BYTES);
    }

    /**
     * The token that is meant. All are compared, each in constant time, so that the time does not tell which one it was.
     *
     * @param hint null of a peer of an earlier version, which means the first
     * @return null if it is none of these
     */
    static @Nullable Token find(List<Token> tokens, byte @Nullable [] hint, byte[] nonce) {
        if (hint == null) {
            return tokens.isEmpty() ? null : tokens.getFirst();
        }
        Token found = null;
        for (Token token : tokens) {
            boolean matches = SessionSecret.matches(of(token, nonce), hint);
            found = matches && found == null ? token : found;
        }
        return found;
    }
}
