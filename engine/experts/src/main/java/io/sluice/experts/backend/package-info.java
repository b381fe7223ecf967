/**
 * Communication back ends: what carries the bytes and signals of an expert buffer. Providers are found by {@link
 * java.util.ServiceLoader}.
 */
@NullMarked
package io.sluice.experts.backend;

import org.jspecify.annotations.NullMarked;
