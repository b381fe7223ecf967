/**
 * Thin static methods over the C shim of Sluice, for Linux on x86_64 and aarch64; and {@link io.sluice.jni.TextFile},
 * with which all modules read files written by people.
 *
 * <p>Conventions of every class here:
 *
 * <li>A class with native methods loads the library on first use. Call {@link
 * io.sluice.jni.NativeLibrary#ensureAvailable()} before, to get a readable exception instead of an {@link
 * ExceptionInInitializerError} if that fails.
 * </ul>
 */
package io.sluice.jni;
