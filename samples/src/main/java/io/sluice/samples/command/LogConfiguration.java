package io.sluice.samples.command;

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
 * The loggers and appenders of the program: Logback finds this class as a service. It is no XML file, as to read one takes longer than all else
 * that a short command does. A file that the system property {@code logback.configurationFile} names takes its place. It has no
 * rank, as it is the only one, and to read an annotation takes as long as the rest.
 */
public final class LogConfiguration extends ContextAwareBase implements Configurator {
    public LogConfiguration() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (System.getProperty("logback.configurationFile") != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        // Vert.x registers some gauges once for each of its parts; the first one counts for all.
        context.getLogger("io.micrometer.core.instrument.MeterRegistry").setLevel(Level.ERROR);
        // Advice about unused features, at each start.
        context.getLogger("com.hazelcast.cp.CPSubsystem").setLevel(Level.ERROR);
        context.getLogger("com.hazelcast.instance.impl.HazelcastInstanceFactory")
                .setLevel(Level.ERROR);
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        // The option log-level changes the level.
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
