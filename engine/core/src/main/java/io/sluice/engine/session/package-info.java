/** The engine and its connections: data path, control channel, liveness, notifications, and the end. Internal. */
@NullMarked
package io.sluice.engine.session;

import org.jspecify.annotations.NullMarked;
