package io.sluice.engine;

import java.io.Serial;

/**
 * Some elements of a vectored transfer failed. Each element's error was reported with its result; the first is the
 * cause.
 */
public final class ElementsFailedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The number of elements that failed. */
    private final int failed;
    /** The number of elements of the transfer. */
    private final int elements;

    /**
     * Creates an exception.
     *
     * @param failed the number of elements that failed, at least 1
     * @param elements the number of elements of the transfer
     * @param first the error of the element that failed first
     */
    public ElementsFailedException(int failed, int elements, SluiceException first) {
        super(failed + " of " + elements + " elements failed, the first with: " + first.getMessage(), first);
        this.failed = failed;
        this.elements = elements;
    }

    /**
     * The number of elements that failed.
     *
     * @return at least 1
     */
    public int failed() {
        return failed;
    }

    /**
     * The number of elements of the transfer.
     *
     * @return at least {@link #failed()}
     */
    public int elements() {
        return elements;
    }
}
