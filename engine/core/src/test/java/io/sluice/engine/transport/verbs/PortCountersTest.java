package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PortCountersTest {
    @TempDir
    private Path folder;

    private void file(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    @Test
    void filesOfOneNumberAreRead() throws IOException {
        file("port_xmit_data", "123456789012\n");
        file("port_rcv_errors", "0\n");
        file("VL15_dropped", "N/A (no PMA)\n");
        file("lifespan", "10\n");
        Files.createDirectory(folder.resolve("power"));
        Map<String, Long> counters = new HashMap<>(Map.of("port_rcv_errors", 7L));
        Sysfs.addCounters(folder, counters);
        assertThat(counters).isEqualTo(Map.of("port_xmit_data", 123_456_789_012L, "port_rcv_errors", 7L));
    }

    @Test
    void portThatIsNotThereHasNone() {
        assertThat(new PortCounters("no such device", 1).counters()).isEmpty();
    }
}
