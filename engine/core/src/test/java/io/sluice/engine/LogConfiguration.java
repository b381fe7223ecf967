package io.sluice.engine;

import ch.qos.logback.classic.BasicConfigurator;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.ConsoleTarget;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * The loggers and appenders of tests and their peers: Logback finds this class as a service. It is no XML file, as to read one takes a third of a
 * peer's start, and tests start many. It has no rank, as it is the only one: to read an annotation takes longer than the rest.
 */
public final class LogConfiguration extends ContextAwareBase implements Configurator {
    @Override
    public ExecutionStatus configure(LoggerContext context) {
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.WARN);
        // Its layout is no pattern, which would have to be read and compiled at each start.
        BasicConfigurator basic = new BasicConfigurator();
        basic.setContext(context);
        basic.configure(context);
        ConsoleAppender<ILoggingEvent> appender = (ConsoleAppender<ILoggingEvent>) root.getAppender("console");
        appender.stop();
        appender.setTarget(ConsoleTarget.SystemErr.getName());
        appender.start();
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
