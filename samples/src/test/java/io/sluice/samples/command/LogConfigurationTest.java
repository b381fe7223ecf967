package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import java.util.Iterator;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogConfigurationTest {

    /** Logback finds it by itself, and nothing that it would do without it is done besides. */
    @Test
    void warningsGoToStandardErrorOnce() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Iterator<Appender<ILoggingEvent>> appenders = root.iteratorForAppenders();
        Appender<ILoggingEvent> only = appenders.next();
        assertThat(appenders.hasNext()).isFalse();
        assertThat(only).isInstanceOf(ConsoleAppender.class);
        assertThat(((ConsoleAppender<ILoggingEvent>) only).getTarget()).isEqualTo("System.err");
        assertThat(only.isStarted()).isTrue();
    }

    @Test
    void levelsAreThoseOfTheProgram() {
        LoggerContext context = new LoggerContext();
        new LogConfiguration().configure(context);
        assertThat(context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).getLevel())
                .isEqualTo(Level.WARN);
        assertThat(context.getLogger("com.hazelcast.cp.CPSubsystem").getLevel()).isEqualTo(Level.ERROR);
        context.stop();
    }
}
