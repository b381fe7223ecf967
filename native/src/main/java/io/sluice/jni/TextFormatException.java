package io.sluice.jni;

import java.io.IOException;

/** A file is not text in UTF-8; the message names the file and what to do. */
public final class TextFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    TextFormatException(String message) {
        super(message);
    }
}
