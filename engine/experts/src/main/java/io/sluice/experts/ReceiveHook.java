package io.sluice.experts;

/**
 * The second half of a call whose sends are posted. Between the halves neither a thread nor the loop works for the call;
 * what arrives lies in the buffer's memory.
 *
 * @param <R> the type of the call's result
 */
public interface ReceiveHook<R> {
    /**
     * Receives. Must be called once: until then later calls of the other ranks may wait for this one.
     *
     * @param callback receives the terminal signal
     * @throws IllegalStateException if it was called before
     */
    void complete(ExpertCallback<R> callback);
}
