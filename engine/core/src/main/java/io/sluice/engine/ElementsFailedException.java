package io.sluice.engine;

import java.io.Serial;

/** Some elements of a vectored transfer failed. Each element's own error came with its result; the first is the cause. */
public final class ElementsFailedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** How many elements failed. */
    private final int failed;
    /** How many elements there were. */
    private final int elements;

    /**
     * Makes one.
     *
     * @param failed how many elements failed, at least 1
     * @param elements how many there were
     * @param first the error of the element that failed first
     */
    public ElementsFailedException(int failed, int elements, SluiceException first) {
        super(failed + " of " + elements + " elements failed, the first with: " + first.getMessage(), first);
        this.failed = failed;
        this.elements = elements;
    }

    /**
     * How many elements failed.
     *
     * @return at least 1
     */
    public int failed() {
        return failed;
    }

    /**
     * How many elements there were.
     *
     * @return at least {@link #failed()}
     */
    public int elements() {
        return elements;
    }
}
