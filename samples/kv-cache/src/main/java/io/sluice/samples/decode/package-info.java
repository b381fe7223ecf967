/** The decode side: it owns the page pool and the prefix cache, and checks every page that arrives. */
@NullMarked
package io.sluice.samples.decode;

import org.jspecify.annotations.NullMarked;
