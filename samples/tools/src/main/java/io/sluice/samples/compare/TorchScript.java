package io.sluice.samples.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A script in this package's resources that PyTorch runs.
 *
 * @param name of the resource
 */
record TorchScript(String name) {
    /** The command line that runs it, with the script in the folder of the measurements. */
    List<String> command(BenchEnvironment environment, List<String> operands) throws MeasurementFailedException {
        Path file = environment.folder().resolve(name);
        try (InputStream in = TorchScript.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new MeasurementFailedException("this program lacks its resource " + name);
            }
            if (Files.notExists(file)) {
                Files.copy(in, file);
            }
        } catch (IOException e) {
            throw new MeasurementFailedException(file + " cannot be written: " + e.getMessage());
        }
        List<String> command = new ArrayList<>(List.of(Program.TORCH.executable(), file.toString()));
        command.addAll(operands);
        return command;
    }
}
