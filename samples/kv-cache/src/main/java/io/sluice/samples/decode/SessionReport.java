package io.sluice.samples.decode;

import org.jspecify.annotations.Nullable;

/**
 * How a prefill process was served.
 *
 * @param requests requests that were received and checked
 * @param pagesChecked pages that were checked, over all layers
 * @param pagesCorrupted those that were not what was sent
 * @param error what ended the session, or {@code null} if the prefill side has closed it
 */
public record SessionReport(
        long requests,
        long pagesChecked,
        long pagesCorrupted,
        @Nullable Throwable error) {}
