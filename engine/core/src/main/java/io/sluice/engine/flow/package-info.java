/** From a submitted transfer to posted work requests and back: window, chunking, states. Internal. */
@NullMarked
package io.sluice.engine.flow;

import org.jspecify.annotations.NullMarked;
