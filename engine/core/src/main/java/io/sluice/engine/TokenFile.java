package io.sluice.engine;

import io.sluice.engine.security.Reloaded;
import io.sluice.engine.security.SecretFile;
import io.sluice.jni.TextFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads tokens from the lines of a file. */
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
        String text = TextFile.decoded(SecretFile.read(path, MAX_BYTES), path.toString());
        for (String line : text.lines().map(String::strip).toList()) {
            number++;
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int hidden =
                    line.codePoints().filter(TokenFile::isHidden).findFirst().orElse(-1);
            if (hidden >= 0) {
                throw new IOException("%s, line %d: the token contains the invisible character U+%04X; remove it"
                        .formatted(path, number, hidden));
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

    /** Whether a character is invisible: in front of a #, it would turn a comment into a valid token. */
    private static boolean isHidden(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            case Character.SPACE_SEPARATOR -> character != ' ';
            default -> false;
        };
    }

    @Override
    public String toString() {
        return "TokenFile[" + path + "]";
    }
}
