package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which modules {@code ./sluice test --changed} tests. */
class ChangedModulesTest {
    private static final Path ROOT = Path.of("..");

    /** The launcher's own function, with a git for which one file differs. */
    private static final String SCRIPT = """
            root=$1 state=$1/target STATUS_USAGE=64
            . "$root/engine/testkit/launcher/test.sh"
            git() { case "$*" in *diff*) printf '%s\\n' "$DIFFERS" ;; esac; }
            changed_modules HEAD
            """;

    private static List<String> modulesWhere(String differs) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder("bash", "-euc", SCRIPT, "bash", ROOT.toString()).redirectErrorStream(true);
        builder.environment().put("DIFFERS", differs);
        Process process = builder.start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).as(printed).isZero();
        return printed.lines().toList();
    }

    @Test
    void whatDependsOnTheOneThatDiffers() throws IOException {
        assertThat(modulesWhere("reactive-api/reactor/pom.xml"))
                .contains("reactive-api/reactor", "reactive-api/directory", "reactive-api/vertx", "samples")
                .doesNotContain("native", "engine/core", "metrics", "docs/site");
    }

    /** The engine names no artifact of it. */
    @Test
    void theEngineWhereTheContractDiffers() throws IOException {
        assertThat(modulesWhere("engine/testkit/src/main/java/Contract.java"))
                .contains("engine/testkit", "engine/core", "metrics")
                .doesNotContain("native");
    }

    @Test
    void theSiteWhereAPageDiffers() throws IOException {
        assertThat(modulesWhere("samples/snippets/README.md")).containsExactly("samples/snippets", "docs/site");
    }

    @Test
    void allWhereAFileOfNoModuleDiffers() throws IOException {
        assertThat(modulesWhere("pom.xml")).contains("native", "engine/core", "samples", "docs/site");
    }
}
