package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Everything that the engine logs while this is open, from the given level on, with its stack traces. */
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.sluice");
    private final Level before = logger.getLevel();
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final List<String> ownLines = new CopyOnWriteArrayList<>();
    private final Thread owner = Thread.currentThread();

    private CapturedLog(Level from) {
        setContext(logger.getLoggerContext());
        start();
        logger.setLevel(from);
        // The tests provoke these lines and check them; on the console they would only alarm.
        logger.setAdditive(false);
        logger.addAppender(this);
    }

    public static CapturedLog everything() {
        return new CapturedLog(Level.TRACE);
    }

    public static CapturedLog warnings() {
        return new CapturedLog(Level.WARN);
    }

    @Override
    protected void append(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        String line = event.getLevel() + " " + event.getFormattedMessage()
                + (thrown == null ? "" : "\n" + ThrowableProxyUtil.asString(thrown));
        lines.add(line);
        if (Thread.currentThread() == owner) {
            ownLines.add(line);
        }
        if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
            errors.add(line);
        }
    }

    public List<String> lines() {
        return lines;
    }

    /** The lines of the thread that created this; engines that other tests have closed may still log on theirs. */
    public List<String> ownLines() {
        return ownLines;
    }

    /** An error in the log is one that no code expected. */
    public void assertNoErrors() {
        assertThat(errors).isEmpty();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(before);
        logger.setAdditive(true);
        stop();
    }
}
