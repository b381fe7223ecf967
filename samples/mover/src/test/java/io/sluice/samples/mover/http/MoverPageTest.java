package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page about the mover names what the contract has. */
class MoverPageTest {

    private static final Path PAGE = Path.of("../docs/mover.md");
    private static final Pattern SERVED =
            Pattern.compile("(/api/[a-z]+(?:/\\{[a-z]+})?(?:/[a-z]+)?|/health/[a-z]+|/metrics)");

    @Test
    void thePathsOfThePageAreThoseOfTheContract() throws Exception {
        Set<String> contract = new TreeSet<>();
        Vertx vertx = Vertx.vertx();
        try {
            MoverPair.await(Contract.read(vertx)).contract().getPaths().forEach(path -> contract.add(path.getName()));
        } finally {
            MoverPair.await(vertx.close());
        }
        String page = Files.readString(PAGE);
        String table = page.substring(page.indexOf("| request | does |"), page.indexOf("A move is `WAITING`"));
        Set<String> named = new TreeSet<>();
        Matcher paths = SERVED.matcher(table);
        while (paths.find()) {
            named.add(paths.group(1));
        }
        assertThat(named).isEqualTo(contract);
    }
}
