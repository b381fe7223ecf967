package io.sluice.samples.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.ILoggerFactory;
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
        level.apply();
    }

    /** How much is logged. */
    enum LogLevel {
        /** Nothing. */
        OFF(Level.OFF),
        /** What went wrong and could not be told otherwise. */
        ERROR(Level.ERROR),
        /** What may need attention, too. */
        WARN(Level.WARN),
        /** What happens, too. */
        INFO(Level.INFO),
        /** What developers want to know, too. */
        DEBUG(Level.DEBUG),
        /** Everything. */
        TRACE(Level.TRACE);

        private final Level level;

        LogLevel(Level level) {
            this.level = level;
        }

        /** From now on this much is logged. */
        void apply() {
            ILoggerFactory factory = LoggerFactory.getILoggerFactory();
            if (factory instanceof LoggerContext context) {
                context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(level);
            }
        }
    }
}
