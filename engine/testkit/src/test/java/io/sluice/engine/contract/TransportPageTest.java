package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The program of the page about writing a transport is a compiled one. */
class TransportPageTest {
    @Test
    void theClassNamesTheTransport() {
        // A local class, which no runner of tests takes for one of its own.
        // begin
        class MyContractTest extends TransportContract {
            @Override
            public TransportUnderTest transport() {
                return () -> "my-transport";
            }
        }
        // end
        assertThat(new MyContractTest().transport().name()).isEqualTo("my-transport");
    }

    @Test
    void thePageShowsIt() throws IOException {
        PagePrograms.check(
                Path.of("../../docs/writing-a-transport.md"),
                Path.of("src/test/java/io/sluice/engine/contract/TransportPageTest.java"));
    }
}
