package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

/** Runs the first program of README; {@link PagesTest} compares it with the page. */
@ExtendWith(NoBlockingOnPollers.class)
class FirstProgramTest {
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
    void theFirstProgramWritesHelloIntoTheOtherEnginesMemory() {
        // begin
        var there = ReactiveTransferEngine.open();
        var here = ReactiveTransferEngine.open();
        MemoryRegion target = there.allocate(64, RegionOptions.readWrite());
        MemoryRegion source = here.allocate(64, RegionOptions.local());
        source.segment().setString(0, "hello");
        here.connect(there.address())
                .flatMap(connection ->
                        connection.attach(target.descriptor()).flatMap(remote -> connection.write(source, remote, 0)))
                .block();
        System.out.println(target.segment().getString(0));
        Mono.when(here.close(), there.close()).block();
        // end
        assertThat(printed.toString(StandardCharsets.UTF_8).strip()).isEqualTo("hello");
        assertThat(target.isOpen()).isFalse();
    }
}
