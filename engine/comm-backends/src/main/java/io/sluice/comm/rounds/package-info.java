/**
 * A communication back end that needs of a library no more than an exchange of messages in which all ranks take part: the
 * ranks put what they have for each other into rounds, which a thread of the back end's own runs.
 */
@NullMarked
package io.sluice.comm.rounds;

import org.jspecify.annotations.NullMarked;
