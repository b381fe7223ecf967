/** NCCL as a communication back end. */
@NullMarked
package io.sluice.comm.nccl;

import org.jspecify.annotations.NullMarked;
