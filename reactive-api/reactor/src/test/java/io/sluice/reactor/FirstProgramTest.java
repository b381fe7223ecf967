package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

/** The README's first program: it runs, and the README shows exactly these lines. */
@ExtendWith(NoBlockingOnPollers.class)
class FirstProgramTest {
    private static final Path SOURCE = Path.of("src/test/java/io/sluice/reactor/FirstProgramTest.java");
    private static final Path README = Path.of("../../README.md");

    private final PrintStream console = System.out;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @BeforeEach
    void catchWhatIsPrinted() {
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void printAgain() {
        System.setOut(console);
    }

    @Test
    void theFirstProgramMovesHelloThereAndBack() {
        // begin
        var there = ReactiveTransferEngine.open();
        var here = ReactiveTransferEngine.open();
        MemoryRegion target = there.allocate(64, RegionOptions.readWrite());
        MemoryRegion source = here.allocate(64, RegionOptions.local());
        MemoryRegion copy = here.allocate(64, RegionOptions.local());
        source.segment().setString(0, "hello");
        Mono<String> program = here.connect(there.address())
                .flatMap(connection -> connection
                        .attach(target.descriptor())
                        .flatMap(remote -> connection.write(source, remote, 0).then(connection.read(copy, remote, 0))))
                .map(result -> copy.segment().getString(0));
        System.out.println(program.block());
        Mono.when(here.close(), there.close()).block();
        // end
        assertThat(printed.toString(StandardCharsets.UTF_8).strip()).isEqualTo("hello");
        assertThat(target.isOpen()).isFalse();
    }

    @Test
    void theReadmeShowsTheFirstProgram() throws IOException {
        assertThat(README).as("the README at the root of the repository").isRegularFile();
        String source = Files.readString(SOURCE);
        int begin = source.indexOf("        // begin\n");
        int end = source.indexOf("        // end\n");
        String program = source.substring(begin, end).strip().substring("// begin".length());
        // The formatter of the sources breaks lines where a reader would not, so white space is left out of it.
        assertThat(withoutSpace(Files.readString(README)))
                .as("README.md shows the program of %s", SOURCE)
                .contains(withoutSpace("```java\n" + program + "\n```"));
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }
}
