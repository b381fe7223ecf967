package io.sluice.samples.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;

/**
 * The program in this process, where no process of its own is looked for: a start of the virtual machine takes most of a
 * second. It is for commands that start no other process, which would be this JVM's program.
 *
 * @param status the exit status
 * @param out standard output
 * @param err standard error
 */
record ProgramRun(int status, String out, String err) {

    static ProgramRun of(String... arguments) {
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            int status = ProgramCommands.run(new Program(), arguments);
            return new ProgramRun(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errBefore);
        }
    }

    @Command(name = "sluice", mixinStandardHelpOptions = true)
    private static final class Program {}
}
