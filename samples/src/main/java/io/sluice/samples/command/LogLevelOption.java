package io.sluice.samples.command;

import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The option that says how much is logged; every command has it. */
final class LogLevelOption {

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            scope = ScopeType.INHERIT,
            defaultValue = "${env:SLUICE_LOG_LEVEL:-WARN}",
            description = {
                "How much is logged to standard error: ${COMPLETION-CANDIDATES}.",
                "Default: SLUICE_LOG_LEVEL from the environment, else WARN."
            })
    void level(LogLevel level) {
        level.apply();
    }
}
