/** A transport that knows a device's stream, where the device is a thread of the host. */
package io.sluice.engine.transport.streamed;
