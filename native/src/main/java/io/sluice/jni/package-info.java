/**
 * Thin static methods over the C shim of Sluice, for Linux on x86_64 and aarch64; and {@link io.sluice.jni.TextFile}, by which all modules
 * read what people write.
 *
 * <p>Conventions of every class here:
 *
 * <ul>
 *   <li>A negative result is the negated {@code errno} of the system call that failed, named in {@link
 *       io.sluice.jni.Errno}; nothing is thrown for a failed system call.
 *   <li>A memory address is a raw {@code long}. The caller keeps that memory alive and large enough for the duration of
 *       the call; only what the kernel itself checks turns into {@code -EFAULT}.
 *   <li>An interrupted system call ({@code EINTR}) is repeated in C, unless a method says otherwise.
 *   <li>A class whose methods are native loads the library when it is first used. Call {@link
 *       io.sluice.jni.NativeLibrary#ensureAvailable()} before, to get a readable exception where it cannot be loaded
 *       rather than an {@link ExceptionInInitializerError}.
 * </ul>
 */
package io.sluice.jni;
