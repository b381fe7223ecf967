package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.PatientOptions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerbsOptionsTest {
    private static VerbsOptions from(Map<String, String> variables) {
        return VerbsOptions.builder().environment(variables).build();
    }

    private static VerbsOptions from(String variable, String value) {
        return from(Map.of(VerbsOptions.VARIABLES + variable, value));
    }

    @Test
    void everyVariableIsRead() {
        Map<String, String> variables = new HashMap<>();
        variables.put("SLUICE_VERBS_DEVICES", "mlx5_0, mlx5_1:2");
        variables.put("SLUICE_VERBS_NEAR", "numa:1");
        variables.put("SLUICE_VERBS_GID_INDEX", "3");
        variables.put("SLUICE_VERBS_SEND_DEPTH", "512");
        variables.put("SLUICE_VERBS_READ_DEPTH", "8");
        variables.put("SLUICE_VERBS_SERVICE_LEVEL", "5");
        variables.put("SLUICE_VERBS_TRAFFIC_CLASS", "106");
        variables.put("SLUICE_VERBS_HOP_LIMIT", "9");
        variables.put("SLUICE_VERBS_PARTITION_KEY_INDEX", "2");
        variables.put("SLUICE_VERBS_TIMEOUT", "18");
        variables.put("SLUICE_VERBS_RETRIES", "3");
        variables.put("SLUICE_VERBS_RNR_RETRIES", "2");
        variables.put("SLUICE_VERBS_MINIMUM_RNR_TIMER", "14");
        variables.put("SLUICE_VERBS_RELAXED_ORDERING", "true");
        variables.put("SLUICE_VERBS_ON_DEMAND_PAGING", "true");
        VerbsOptions options = from(variables);
        assertThat(options.devices()).containsExactly("mlx5_0", "mlx5_1:2");
        assertThat(options.near()).isEqualTo("numa:1");
        assertThat(options.gidIndex()).isEqualTo(3);
        assertThat(options.sendDepth(256)).isEqualTo(512);
        assertThat(options.readDepth()).isEqualTo(8);
        assertThat(options.serviceLevel()).isEqualTo(5);
        assertThat(options.trafficClass()).isEqualTo(106);
        assertThat(options.hopLimit()).isEqualTo(9);
        assertThat(options.partitionKeyIndex()).isEqualTo(2);
        assertThat(options.timeout()).isEqualTo(18);
        assertThat(options.retries()).isEqualTo(3);
        assertThat(options.rnrRetries()).isEqualTo(2);
        assertThat(options.minimumRnrTimer()).isEqualTo(14);
        assertThat(options.relaxedOrdering()).isTrue();
        assertThat(options.onDemandPaging()).isTrue();
    }

    @Test
    void defaultsAreThoseOfTheDocumentation() {
        VerbsOptions options = VerbsOptions.builder().build();
        assertThat(options.devices()).isEmpty();
        assertThat(from("DEVICES", "auto").devices()).isEmpty();
        assertThat(options.near()).isNull();
        assertThat(options.gidIndex()).isEqualTo(VerbsOptions.CHOOSE_GID);
        assertThat(options.readDepth()).isEqualTo(16);
        assertThat(options.serviceLevel()).isZero();
        assertThat(options.trafficClass()).isZero();
        assertThat(options.hopLimit()).isEqualTo(64);
        assertThat(options.partitionKeyIndex()).isZero();
        assertThat(options.timeout()).isEqualTo(14);
        assertThat(options.retries()).isEqualTo(7);
        assertThat(options.rnrRetries()).as("7 would be for ever").isEqualTo(6);
        assertThat(options.minimumRnrTimer()).isEqualTo(12);
        assertThat(options.relaxedOrdering()).isFalse();
        assertThat(options.onDemandPaging()).isFalse();
        assertThat(options.sendDepth(1000))
                .as("a window of operations, and messages")
                .isGreaterThan(1000);
    }

    @ParameterizedTest
    @CsvSource({
        "GID_INDEX, -1",
        "GID_INDEX, 256",
        "SEND_DEPTH, 127",
        "SEND_DEPTH, 131073",
        "READ_DEPTH, 0",
        "READ_DEPTH, 256",
        "SERVICE_LEVEL, 16",
        "TRAFFIC_CLASS, 256",
        "HOP_LIMIT, 0",
        "PATH_MTU, 0",
        "PATH_MTU, 128",
        "PATH_MTU, 1500",
        "PATH_MTU, 8192",
        "PARTITION_KEY_INDEX, 65536",
        "TIMEOUT, 0",
        "TIMEOUT, 32",
        "RETRIES, 8",
        "RNR_RETRIES, 7",
        "MINIMUM_RNR_TIMER, 32",
        "READ_DEPTH, many",
        "RELAXED_ORDERING, perhaps"
    })
    void valueOutOfRangeIsNamed(String variable, String value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(variable, value))
                .withMessageContaining("SLUICE_VERBS_" + variable)
                .withMessageContaining(value);
    }

    @Test
    void optionsThatAreGivenComeBeforeVariables() {
        EngineOptions.Builder engine =
                PatientOptions.builder().environment(Map.of("SLUICE_VERBS_READ_DEPTH", "3", "SLUICE_LANES", "2"));
        assertThat(VerbsOptions.of(engine.build()).readDepth()).isEqualTo(3);
        engine.transport(VerbsOptions.builder().readDepth(5).build());
        assertThat(VerbsOptions.of(engine.build()).readDepth()).isEqualTo(5);
    }

    @Test
    void builtOptionsDoNotChangeWithTheirBuilder() {
        VerbsOptions.Builder builder = VerbsOptions.builder().readDepth(5);
        VerbsOptions built = builder.build();
        builder.readDepth(6);
        assertThat(built.readDepth()).isEqualTo(5);
    }
}
