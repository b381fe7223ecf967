package io.sluice.samples.command;

import org.jspecify.annotations.Nullable;

/** A command cannot do its work; the message is for its user and says what to do. */
final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    private CommandFailure(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** An invalid request: status {@value ExitCodes#USAGE}. */
    static CommandFailure usage(String message) {
        return new CommandFailure(ExitCodes.USAGE, message, null);
    }

    /** An invalid request, found by other code. */
    static CommandFailure usage(Throwable cause) {
        return new CommandFailure(ExitCodes.USAGE, String.valueOf(cause.getMessage()), cause);
    }

    /** It was tried and went wrong: status {@value ExitCodes#FAILED}. */
    static CommandFailure failed(String message) {
        return new CommandFailure(ExitCodes.FAILED, message, null);
    }

    int exitCode() {
        return exitCode;
    }
}
