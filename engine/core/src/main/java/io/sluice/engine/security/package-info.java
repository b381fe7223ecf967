/** Key material that is reloaded when it changes, and TLS over sockets that do not block. Internal. */
@NullMarked
package io.sluice.engine.security;

import org.jspecify.annotations.NullMarked;
