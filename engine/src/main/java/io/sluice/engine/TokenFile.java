package io.sluice.engine;

import io.sluice.engine.security.Reloaded;
import io.sluice.engine.security.SecretFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Tokens in the lines of a file. */
final class TokenFile implements TokenSource {
    private static final int MAX_BYTES = 64 * 1024;

    private final Path path;
    private final Reloaded<List<Token>> tokens;

    TokenFile(Path path) {
        this.path = path;
        this.tokens = new Reloaded<>("the token file", List.of(path), this::read);
    }

    @Override
    public List<Token> tokens() {
        return tokens.get();
    }

    private List<Token> read() throws IOException {
        List<Token> found = new ArrayList<>();
        int number = 0;
        String text = new String(SecretFile.read(path, MAX_BYTES), StandardCharsets.UTF_8);
        for (String line : text.lines().map(String::strip).toList()) {
            number++;
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (found.size() == MAX_TOKENS) {
                throw new IOException(path + " has more than " + MAX_TOKENS + " tokens");
            }
            try {
                found.add(Token.parse(line));
            } catch (IllegalArgumentException e) {
                throw new IOException(path + ", line " + number + ": " + e.getMessage(), e);
            }
        }
        if (found.isEmpty()) {
            throw new IOException(path + " has no token");
        }
        return List.copyOf(found);
    }

    @Override
    public String toString() {
        return "TokenFile[" + path + "]";
    }
}
