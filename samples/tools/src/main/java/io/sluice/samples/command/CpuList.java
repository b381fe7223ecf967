package io.sluice.samples.command;

import io.sluice.jni.MachineFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.regex.Pattern;

/** Processors, as the kernel and {@code taskset} write them: {@code 3}, {@code 0,2}, {@code 0-3}. */
record CpuList(String text) {
    private static final Pattern FORM = Pattern.compile("\\d{1,6}(-\\d{1,6})?(,\\d{1,6}(-\\d{1,6})?)*");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    /**
     * The processors that a text names.
     *
     * @throws IllegalArgumentException if it names none; the message says what to give
     */
    static CpuList parse(String text) {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' names no processors: give a number, or several, such as 0,2 or 0-3");
        }
        CpuList list = new CpuList(text);
        list.numbers();
        return list;
    }

    static CpuList allowed() throws IOException {
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .map(line -> new CpuList(line.substring(ALLOWED.length()).strip()))
                .findFirst()
                .orElseThrow(() -> CommandFailure.failed(STATUS + " does not tell which processors may be used"));
    }

    boolean isWithin(CpuList others) {
        BitSet missing = numbers();
        missing.andNot(others.numbers());
        return missing.isEmpty();
    }

    /**
     * One of these alone.
     *
     * @param index its place among them, from 0; if there are not so many it is the last
     */
    CpuList single(int index) {
        int[] numbers = numbers().stream().toArray();
        return new CpuList(Integer.toString(numbers[Math.min(index, numbers.length - 1)]));
    }

    boolean isSingle() {
        return size() == 1;
    }

    int size() {
        return numbers().cardinality();
    }

    private BitSet numbers() {
        return MachineFacts.processors(text);
    }
}
