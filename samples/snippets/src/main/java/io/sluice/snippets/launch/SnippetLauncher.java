package io.sluice.snippets.launch;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/** Runs a snippet as {@code java} does, and looks whether all that it has printed has arrived. */
public final class SnippetLauncher {
    private static final String PACKAGE = "io.sluice.snippets.";

    private SnippetLauncher() {}

    /**
     * Runs a snippet. Ends with status 1 if standard output has not taken what it has printed.
     *
     * @param arguments its name and its own arguments
     * @throws Throwable what it throws
     */
    public static void main(String[] arguments) throws Throwable {
        MethodHandle snippet = MethodHandles.publicLookup()
                .findStatic(
                        Class.forName(PACKAGE + arguments[0]),
                        "main",
                        MethodType.methodType(void.class, String[].class));
        snippet.invokeExact(Arrays.copyOfRange(arguments, 1, arguments.length));
        if (System.out.checkError()) {
            System.err.println("standard output could not be written, and some of it is lost");
            System.exit(1);
        }
    }
}
