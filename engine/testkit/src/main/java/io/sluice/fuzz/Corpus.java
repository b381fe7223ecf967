package io.sluice.fuzz;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Inputs that are kept: {@code /fuzz/TARGET.hex} among the tests' resources, one input a line in hexadecimal digits, {@code #}
 * before a remark. Add inputs that once broke a parser, so that every run tries them.
 */
final class Corpus {
    private Corpus() {}

    static List<byte[]> of(String target) {
        List<byte[]> inputs = new ArrayList<>();
        try (InputStream file = Corpus.class.getResourceAsStream("/fuzz/" + target + ".hex")) {
            if (file == null) {
                return inputs;
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.startsWith("#")) {
                    inputs.add(HexFormat.of().parseHex(line.strip()));
                }
            }
            return inputs;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
