/**
 * Thin static methods over the C shim of Sluice, for Linux on x86_64 and aarch64; and {@link io.sluice.jni.TextFile},
 * with which all modules read files written by people.
 *
 * <p>Conventions of every class here:
 *
 * <ul>
 *   <li>A negative result is the negated {@code errno} of the system call that failed, named in {@link
 *       io.sluice.jni.Errno}; no exception is thrown for a failed system call.
 *   <li>A memory address is a raw {@code long}. The caller keeps that memory alive and large enough for the duration of
 *       the call; only what the kernel itself checks turns into {@code -EFAULT}.
 *   <li>An interrupted system call ({@code EINTR}) is repeated in C, unless a method says otherwise.
 *   <li>A class with native methods loads the library on first use. Call {@link
 *       io.sluice.jni.NativeLibrary#ensureAvailable()} before, to get a readable exception instead of an {@link
 *       ExceptionInInitializerError} if that fails.
 * </ul>
 */
package io.sluice.jni;
