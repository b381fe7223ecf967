package io.sluice.samples.mover.problem;

/** A problem as an exception. It has no stack trace: it tells its reader all there is. */
public final class ProblemException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    ProblemException(Problem problem) {
        super(problem.detail(), null, false, false);
        this.problem = problem;
    }

    /** What went wrong. */
    public Problem problem() {
        return problem;
    }
}
