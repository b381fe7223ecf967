package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The same collectives by NCCL, all-to-all by grouped sends and receives, with the result checked before it is measured. */
record NcclCollectives(GpuCollectives collectives) implements Measurement {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Program program() {
        return Program.NCCL;
    }

    @Override
    public String label() {
        return "NCCL " + collectives.description();
    }

    List<String> operands() {
        return List.of(
                collectives.collective().toString(),
                Long.toString(collectives.size()),
                Integer.toString(collectives.graph()));
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        Timing timing = environment.timing();
        List<String> command = new ArrayList<>(List.of(environment.program(CProgram.GPU)));
        command.addAll(operands());
        command.add(Long.toString(timing.warmup().toMillis()));
        command.add(Long.toString(timing.duration().toMillis()));
        return figures(environment.unpinned().runAlone(label(), Map.of(), command));
    }

    Figures figures(String output) throws MeasurementFailedException {
        try {
            JsonNode line = JSON.readTree(output.lines()
                    .filter(text -> text.startsWith("{"))
                    .findFirst()
                    .orElse(""));
            return collectives.figures(
                    line.path("device_nanos").asDouble() / 1e3,
                    line.path("median_nanos").asDouble() / 1e3);
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("it printed no figures");
        }
    }
}
