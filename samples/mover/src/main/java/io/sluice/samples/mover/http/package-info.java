/** The mover over HTTP, as its OpenAPI document says. */
@NullMarked
package io.sluice.samples.mover.http;

import org.jspecify.annotations.NullMarked;
