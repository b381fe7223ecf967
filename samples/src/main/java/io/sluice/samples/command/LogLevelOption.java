package io.sluice.samples.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.toLevel(level.name()));
        }
    }

    enum LogLevel {
        OFF,
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }
}
