package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;

/** All parts of a buffer as one. */
final class BufferParts implements BufferPart {
    private final BufferPart[] parts;
    private int first;

    BufferParts(BufferPart... parts) {
        this.parts = parts.clone();
    }

    @Override
    public int advance(int budget) {
        // each has the whole budget now and then
        first = (first + 1) % parts.length;
        int used = 0;
        for (int i = 0; i < parts.length && used < budget; i++) {
            used += parts[(first + i) % parts.length].advance(budget - used);
        }
        return used;
    }

    @Override
    public long deadline() {
        long least = NEVER;
        for (BufferPart part : parts) {
            long other = part.deadline();
            if (least == NEVER || (other != NEVER && other - least < 0)) {
                least = other;
            }
        }
        return least;
    }

    @Override
    public int unmapped() {
        for (BufferPart part : parts) {
            int rank = part.unmapped();
            if (rank >= 0) {
                return rank;
            }
        }
        return -1;
    }

    @Override
    public boolean isBusy() {
        for (BufferPart part : parts) {
            if (part.isBusy()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void lost(int rank) {
        for (BufferPart part : parts) {
            part.lost(rank);
        }
    }

    @Override
    public void fail(SluiceException error) {
        for (BufferPart part : parts) {
            part.fail(error);
        }
    }

    @Override
    public void leave(boolean closed) {
        for (BufferPart part : parts) {
            part.leave(closed);
        }
    }

    @Override
    public boolean isSettled() {
        boolean settled = true;
        for (BufferPart part : parts) {
            // each is asked, to signal when it may be so
            settled &= part.isSettled();
        }
        return settled;
    }

    @Override
    public CompletableFuture<Void> close() {
        CompletableFuture<?>[] closing = new CompletableFuture<?>[parts.length];
        for (int i = 0; i < parts.length; i++) {
            closing[i] = parts[i].close();
        }
        return CompletableFuture.allOf(closing);
    }
}
