/**
 * What a prefill and a decode process say to each other in notifications, while the pages themselves move one-sidedly.
 */
@NullMarked
package io.sluice.samples.control;

import org.jspecify.annotations.NullMarked;
