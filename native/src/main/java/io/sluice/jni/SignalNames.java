package io.sluice.jni;

import java.util.ArrayList;
import java.util.List;

/** The names of signals by their numbers on x86_64 and aarch64. */
final class SignalNames {
    private static final List<String> NAMES = List.of(
            "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
            "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
            "WINCH", "IO", "PWR", "SYS");

    private SignalNames() {}

    /** The names in a set whose bit n is signal n. */
    static String of(int set) {
        List<String> names = new ArrayList<>();
        for (int signal = 1; signal <= NAMES.size(); signal++) {
            if ((set >>> signal & 1) != 0) {
                names.add("SIG" + NAMES.get(signal - 1));
            }
        }
        return String.join(", ", names);
    }
}
