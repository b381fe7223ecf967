package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.FuzzSeed;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The processes that can reach each other. */
class HostTest {
    private static final Host HERE = new Host("boot", "net:[1]", "-");

    @Test
    void processesOfOneNetworkNamespaceMeet() {
        assertThat(HERE.whyOutOfReach(new Host("boot", "net:[1]", "-"))).isNull();
        assertThat(HERE.whyOutOfReach(new Host("boot", "net:[1]", "9:9"))).isNull();
        assertThat(HERE.sharesNetwork(new Host("boot", "net:[1]", "9:9"))).isTrue();
    }

    @Test
    void processesThatSeeOneDirectoryMeet() {
        Host one = new Host("boot", "net:[1]", "9:9");
        Host other = new Host("boot", "net:[2]", "9:9");
        assertThat(one.whyOutOfReach(other)).isNull();
        assertThat(one.sharesNetwork(other)).isFalse();
    }

    @Test
    void otherHostIsOutOfReachEvenIfAllElseIsEqual() {
        assertThat(new Host("boot", "net:[1]", "9:9").whyOutOfReach(new Host("other", "net:[1]", "9:9")))
                .contains("another host");
    }

    @Test
    void otherNamespaceWithoutACommonDirectoryIsOutOfReach() {
        for (String directory : new String[] {"-", "9:8"}) {
            assertThat(new Host("boot", "net:[1]", "9:9").whyOutOfReach(new Host("boot", "net:[2]", directory)))
                    .contains("network namespace")
                    .contains("SLUICE_SHM_DIRECTORY");
        }
        assertThat(HERE.whyOutOfReach(new Host("boot", "net:[2]", "-"))).contains("network namespace");
    }

    /** Two that both cannot tell where they run are not on one host for that. */
    @Test
    void whatCannotBeToldIsNotEqual() {
        Host unknown = new Host("-", "-", "-");
        assertThat(unknown.whyOutOfReach(unknown)).isNotNull();
        Host noNamespace = new Host("boot", "-", "-");
        assertThat(noNamespace.whyOutOfReach(noNamespace)).contains("network namespace");
        assertThat(noNamespace.sharesNetwork(noNamespace)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a", "a b", "a b c d", "a  b c", "\n"})
    void damagedTextIsNoHost(String text) {
        assertThat(HERE.whyOutOfReach(Host.read(text))).isNotNull();
    }

    @Test
    void anyTextIsReadOrNot() {
        Random random = FuzzSeed.of("HostTest").random();
        for (int i = 0; i < 3000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            assertThat(HERE.whyOutOfReach(Host.read(new String(bytes, StandardCharsets.UTF_8))))
                    .isNotNull();
        }
    }

    @Test
    void textIsReadAsItWasWritten(@TempDir Path directory) {
        Host here = Host.here(directory.toString());
        assertThat(Host.read(here.text())).isEqualTo(here);
        assertThat(here.whyOutOfReach(Host.here(null))).isNull();
        assertThat(here.directory()).matches("\\d+:\\d+");
        assertThat(Host.here(null).directory()).isEqualTo("-");
    }

    @Test
    void directoryIsTheSameByAnotherName(@TempDir Path directory) throws Exception {
        Path real = Files.createDirectory(directory.resolve("real"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), real);
        Path other = Files.createDirectory(directory.resolve("other"));
        assertThat(Host.here(link.toString()).directory())
                .isEqualTo(Host.here(real.toString()).directory())
                .isNotEqualTo(Host.here(other.toString()).directory());
    }

    @Test
    void directoryThatIsMissingIsNone() {
        Host missing = Host.here("/nonexistent/sluice");
        assertThat(missing.directory()).isEqualTo("-");
        assertThat(missing.whyOutOfReach(new Host(missing.boot(), "net:[0]", "-")))
                .contains("network namespace");
    }
}
