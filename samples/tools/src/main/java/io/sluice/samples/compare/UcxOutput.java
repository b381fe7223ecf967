package io.sluice.samples.compare;

import java.util.List;

/**
 * The overall figures of a run of {@code ucx_perftest}.
 *
 * @param mebibytesPerSecond what it calls MB/s
 * @param messagesPerSecond a whole number, so of little use for large messages
 */
record UcxOutput(double mebibytesPerSecond, double messagesPerSecond) {

    private static final String BANDWIDTH = "overall_bw";
    private static final String RATE = "overall_mr";
    private static final double MEBI = 1 << 20;
    private static final double GIGA = 1e9;

    /** Of comma-separated values: a line of names and, last, a line of figures. */
    static UcxOutput of(String output) throws MeasurementFailedException {
        List<List<String>> lines = output.lines()
                .map(line -> List.of(line.split(",", -1)))
                .map(fields -> fields.stream().map(String::strip).toList())
                .toList();
        List<String> names = lines.stream()
                .filter(fields -> fields.contains(BANDWIDTH) && fields.contains(RATE))
                .findFirst()
                .orElseThrow(UcxOutput::unknown);
        List<String> figures = lines.getLast();
        if (figures.size() != names.size()) {
            throw unknown();
        }
        try {
            return new UcxOutput(
                    Double.parseDouble(figures.get(names.indexOf(BANDWIDTH))),
                    Double.parseDouble(figures.get(names.indexOf(RATE))));
        } catch (NumberFormatException e) {
            throw unknown();
        }
    }

    private static MeasurementFailedException unknown() {
        return new MeasurementFailedException("what ucx_perftest prints holds no figures that are known");
    }

    double gigabytesPerSecond() {
        return mebibytesPerSecond * MEBI / GIGA;
    }

    /** From the bytes, of which more digits are told. */
    double transfersPerSecond(long size) {
        return mebibytesPerSecond * MEBI / size;
    }
}
