package io.sluice.samples.command;

import io.sluice.engine.SluiceException;
import io.sluice.samples.bench.BenchException;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.control.RefusedException.RefusalReason;
import io.sluice.samples.kvcache.PoolTooSmallException;
import io.sluice.samples.trace.TraceFormatException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;
import reactor.core.Exceptions;

/** Tells the user why a command failed: in one line if it is something known, with a stack trace if it is a defect. */
final class FailureReport implements IExecutionExceptionHandler {
    private static final Logger LOG = LoggerFactory.getLogger(FailureReport.class);

    @Override
    public int handleExecutionException(Exception thrown, CommandLine command, ParseResult parsed) {
        Throwable error = Exceptions.unwrap(thrown);
        PrintWriter err = command.getErr();
        LOG.debug("the command failed", error);
        return switch (error) {
            case CommandFailure e -> report(err, e, e.exitCode());
            case TraceFormatException e -> report(err, e, ExitCodes.USAGE, hint(e));
            case PoolTooSmallException e -> report(err, e, ExitCodes.USAGE);
            case RefusedException e -> report(err, e, exitCode(e.reason()));
            case BenchException e -> report(err, e, e.isUsage() ? ExitCodes.USAGE : ExitCodes.FAILED);
            case SluiceException e -> report(err, e, ExitCodes.FAILED, hint(e));
            case MalformedMessageException _, UncheckedIOException _, IOException _ ->
                report(err, error, ExitCodes.FAILED);
            default -> {
                err.println("sluice: this should not have happened; please report it with the trace below");
                error.printStackTrace(err);
                err.flush();
                yield ExitCodes.FAILED;
            }
        };
    }

    private static int report(PrintWriter err, Throwable error, int exitCode) {
        return report(err, error, exitCode, "");
    }

    private static int report(PrintWriter err, Throwable error, int exitCode, String hint) {
        err.println("sluice: " + error.getMessage() + hint);
        err.flush();
        return exitCode;
    }

    private static int exitCode(RefusalReason reason) {
        return switch (reason) {
            case POOL_TOO_SMALL, OTHER_MODEL -> ExitCodes.USAGE;
            case PROTOCOL, OCCUPIED -> ExitCodes.FAILED;
        };
    }

    private static String hint(TraceFormatException e) {
        return e.line() > 0 ? "; correct the line, or give --lenient to leave malformed lines out" : "";
    }

    /** Errors of transfers say what happened; the kind of error helps to look it up. */
    private static String hint(SluiceException e) {
        return e.getClass() == SluiceException.class ? "" : " (" + e.getClass().getSimpleName() + ")";
    }
}
