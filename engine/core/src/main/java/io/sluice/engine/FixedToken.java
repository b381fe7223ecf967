package io.sluice.engine;

import java.util.List;

/** A token that never changes, so asking for it needs no thread. */
record FixedToken(Token token) implements TokenSource {
    @Override
    public List<Token> tokens() {
        return List.of(token);
    }
}
