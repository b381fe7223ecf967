/** NVSHMEM as a communication back end. */
@NullMarked
package io.sluice.comm.nvshmem;

import org.jspecify.annotations.NullMarked;
