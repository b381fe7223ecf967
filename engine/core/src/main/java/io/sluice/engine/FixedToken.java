package io.sluice.engine;

import java.util.List;

/** A token that stays, so that no thread is needed to ask for it. */
record FixedToken(Token token) implements TokenSource {
    @Override
    public List<Token> tokens() {
        return List.of(token);
    }
}
