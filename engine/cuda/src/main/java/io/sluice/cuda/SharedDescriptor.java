package io.sluice.cuda;

import io.sluice.jni.Sockets;

/**
 * A descriptor that stands for an allocation, as long as this is open.
 *
 * @param number the descriptor
 * @param isOwn whether it was made for this, and ends with it
 */
record SharedDescriptor(int number, boolean isOwn) implements AutoCloseable {
    @Override
    public void close() {
        if (isOwn) {
            Sockets.close(number);
        }
    }
}
