/**
 * The transport for memory of NVIDIA GPUs. A GPU of the initiator's process copies: between its own memory, memory of the host, and
 * memory of GPUs that a peer on the same host has mapped for it.
 */
@NullMarked
package io.sluice.cuda;

import org.jspecify.annotations.NullMarked;
