package io.sluice.jni;

import java.io.IOException;

/** A file is not UTF-8 text; the message names the file and the remedy. */
public final class TextFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    TextFormatException(String message) {
        super(message);
    }
}
