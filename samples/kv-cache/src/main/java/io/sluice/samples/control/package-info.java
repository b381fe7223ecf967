/**
 * The messages of a prefill and a decode process, sent as notifications, while the pages themselves move one-sidedly.
 */
@NullMarked
package io.sluice.samples.control;

import org.jspecify.annotations.NullMarked;
