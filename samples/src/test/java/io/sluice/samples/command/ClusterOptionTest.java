package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.cluster.ClusterMember.ClusterOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ClusterOptionTest {

    @Test
    void thereIsNoClusterUnlessAskedFor() {
        assertThat(of("").options()).isNull();
    }

    @Test
    void membersAreNamedOneByOne() {
        assertThat(of("--cluster 127.0.0.1:5701 --cluster-members 127.0.0.1:5702,[::1]:5703")
                        .options())
                .satisfies(options -> {
                    assertThat(options.cluster()).isEqualTo(ClusterOptions.DEFAULT_CLUSTER);
                    assertThat(options.host()).isEqualTo("127.0.0.1");
                    assertThat(options.port()).isEqualTo(5701);
                    assertThat(options.members()).containsExactly("127.0.0.1:5702", "[::1]:5703");
                    assertThat(options.service()).isNull();
                });
    }

    @Test
    void orByAService() {
        assertThat(of("--cluster 10.0.0.7:5701 --cluster-service movers:5801 --cluster-name c --event-bus-port 5702")
                        .options())
                .isEqualTo(new ClusterOptions("c", "10.0.0.7", 5701, 5702, List.of(), "movers", 5801));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--cluster-members 127.0.0.1:5702",
                "--cluster-service movers:5701",
                "--cluster 127.0.0.1:0",
                "--cluster 127.0.0.1:5701 --event-bus-port 65536",
                "--cluster 127.0.0.1:5701 --cluster-service movers:0",
                "--cluster 127.0.0.1:5701 --cluster-service movers:5701 --cluster-members 127.0.0.1:5702"
            })
    void whatMakesNoSenseIsRefused(String arguments) {
        ClusterOption option = of(arguments);
        assertThatThrownBy(option::options)
                .isInstanceOfSatisfying(
                        CommandFailure.class,
                        failure -> assertThat(failure.exitCode()).isEqualTo(ExitCodes.USAGE))
                .hasMessageContaining("--cluster");
    }

    private static ClusterOption of(String arguments) {
        ClusterOption option = new ClusterOption();
        OptionTypes.register(new CommandLine(option))
                .parseArgs(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        return option;
    }
}
