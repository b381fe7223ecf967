package io.sluice.directory;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Captures a class's log messages at INFO and above while this is open. */
final class LoggedMessages extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger;
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

    private LoggedMessages(Class<?> source) {
        logger = (Logger) LoggerFactory.getLogger(source);
    }

    static LoggedMessages of(Class<?> source) {
        LoggedMessages messages = new LoggedMessages(source);
        messages.start();
        messages.logger.addAppender(messages);
        messages.logger.setLevel(Level.INFO);
        return messages;
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
    }

    List<String> at(Level level) {
        return events.stream()
                .filter(event -> event.getLevel().equals(level))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Override
    public void close() {
        logger.setLevel(null);
        logger.detachAppender(this);
        stop();
    }
}
