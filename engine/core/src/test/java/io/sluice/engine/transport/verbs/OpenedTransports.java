package io.sluice.engine.transport.verbs;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.PatientOptions;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The program of a process that opens engines, each with the transports of one argument, and prints what becomes of each. */
final class OpenedTransports {
    static final char OUTCOME = '@';

    private OpenedTransports() {}

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String names : arguments) {
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of(names.split(",")))
                    .build();
            try (TransferEngine engine = TransferEngine.open(options)) {
                out.println(OUTCOME + "opened " + engine.options().transports());
            } catch (SluiceException e) {
                out.println(OUTCOME + e.getClass().getSimpleName() + ": " + e.getMessage());
            }
        }
    }
}
