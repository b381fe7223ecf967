/**
 * Engines and connections: bootstrap, authentication, control channel, liveness, attachments, notifications, regions.
 * Internal.
 */
@NullMarked
package io.sluice.engine.session;

import org.jspecify.annotations.NullMarked;
