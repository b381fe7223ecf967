import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Sums up the reports of a run of the tests: time by module and the slowest classes, what failed, what was skipped and why,
 * and the counts, as the last line. With {@code --contract=tcp,shm} it also requires that each test of the contract that is
 * known from any transport has run on some variant of these.
 *
 * <p>Usage: {@code TestReport [--contract=TRANSPORT,...] CHECKOUT}. The exit status is 1 where a test failed, none ran, or a requirement is
 * not met.
 */
final class TestReport {
    /** A class of the contract on one of the engine's transports: those of the tests' own, as reordering, reach no process. */
    private static final Pattern CONTRACT = Pattern.compile("io\\.sluice\\.engine\\.transport\\.(tcp|shm|verbs)\\.\\w*ContractTest");

    private static final String CONTRACT_OPTION = "--contract=";
    private static final Pattern METHOD = Pattern.compile("\\w+");
    private static final int SLOWEST = 15;
    private static final int LONGEST_REASON = 110;

    private enum Outcome {
        PASSED,
        FAILED,
        SKIPPED
    }

    private record Test(
            String module, String type, String name, double seconds, Outcome outcome, String reason) {}

    public static void main(String[] arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(arguments));
        List<String> transports = words.getFirst().startsWith(CONTRACT_OPTION)
                ? List.of(words.removeFirst().substring(CONTRACT_OPTION.length()).split(","))
                : List.of();
        Path checkout = Path.of(words.getFirst()).toAbsolutePath().normalize();
        List<Test> tests = new ArrayList<>();
        for (Path report : reports(checkout)) {
            String module = module(checkout.relativize(report));
            try {
                read(module, report, tests);
            } catch (XMLStreamException e) {
                // of a process that died while it wrote
                String name = "cannot be read: " + e.getMessage();
                tests.add(new Test(module, report.toString(), name, 0, Outcome.FAILED, ""));
            }
        }
        printTimes(tests);
        tests.stream()
                .filter(test -> test.outcome() == Outcome.FAILED)
                .forEach(test -> System.out.println("failed: " + test.type() + "." + test.name()));
        printSkipped(tests);
        List<String> neverRun = neverRun(tests, transports);
        if (!neverRun.isEmpty()) {
            System.out.println("These tests of the contract have run on no variant of the transport:");
            neverRun.forEach(test -> System.out.println("  " + test));
        }
        long passed = count(tests, Outcome.PASSED);
        long failed = count(tests, Outcome.FAILED);
        System.out.printf("%d passed, %d failed, %d skipped%n", passed, failed, count(tests, Outcome.SKIPPED));
        System.exit(failed > 0 || tests.isEmpty() || !neverRun.isEmpty() ? 1 : 0);
    }

    private static long count(List<Test> tests, Outcome outcome) {
        return tests.stream().filter(test -> test.outcome() == outcome).count();
    }

    private static List<Path> reports(Path checkout) throws IOException {
        try (Stream<Path> files = Files.walk(checkout)) {
            return files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                    .filter(file -> file.toString().matches(".*/target/(surefire-reports|softroce/.*/reports/.*)/TEST-.*"))
                    .sorted()
                    .toList();
        }
    }

    /** The module's folder, or the guest's name. */
    private static String module(Path report) {
        String path = report.toString();
        int target = path.indexOf("target/");
        return target == 0 ? "softroce " + report.getName(2) : path.substring(0, target - 1);
    }

    private static void read(String module, Path report, List<Test> tests) throws IOException, XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        try (InputStream in = Files.newInputStream(report)) {
            XMLStreamReader reader = factory.createXMLStreamReader(in);
            Test test = null;
            while (reader.hasNext()) {
                int event = reader.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (reader.getLocalName()) {
                        case "testcase" ->
                            test = new Test(
                                    module,
                                    attribute(reader, "classname"),
                                    attribute(reader, "name"),
                                    seconds(attribute(reader, "time")),
                                    Outcome.PASSED,
                                    "");
                        case "failure", "error" -> test = with(test, Outcome.FAILED, "");
                        case "skipped" -> {
                            String reason = attribute(reader, "message");
                            test = with(test, Outcome.SKIPPED, reason.isEmpty() ? reader.getElementText() : reason);
                        }
                        default -> {}
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT && reader.getLocalName().equals("testcase")) {
                    tests.add(test);
                }
            }
        }
    }

    private static Test with(Test test, Outcome outcome, String reason) {
        return new Test(test.module(), test.type(), test.name(), test.seconds(), outcome, reason);
    }

    private static String attribute(XMLStreamReader reader, String name) {
        String value = reader.getAttributeValue(null, name);
        return value == null ? "" : value;
    }

    private static double seconds(String time) {
        return time.isEmpty() ? 0 : Double.parseDouble(time.replace(",", ""));
    }

    private static void printTimes(List<Test> tests) {
        Map<String, List<Test>> modules = new TreeMap<>();
        Map<String, Double> classes = new TreeMap<>();
        for (Test test : tests) {
            modules.computeIfAbsent(test.module(), name -> new ArrayList<>()).add(test);
            classes.merge(test.type(), test.seconds(), Double::sum);
        }
        System.out.println("Time of the tests themselves, summed over the processes that run at the same time:");
        modules.forEach((name, those) -> System.out.printf(
                "  %7.1f s  %5d tests  %s%n",
                those.stream().mapToDouble(Test::seconds).sum(), those.size(), name));
        System.out.println("The slowest classes:");
        classes.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue(Comparator.reverseOrder()))
                .limit(SLOWEST)
                .forEach(entry -> System.out.printf("  %7.1f s  %s%n", entry.getValue(), entry.getKey()));
    }

    private static void printSkipped(List<Test> tests) {
        Map<String, List<String>> reasons = new TreeMap<>();
        for (Test test : tests) {
            if (test.outcome() == Outcome.SKIPPED) {
                String reason = test.reason().strip().replaceFirst("^[\\w.]*(TestAbortedException|SkipException): *", "");
                String first = reason.lines()
                        .findFirst()
                        .orElse("")
                        .replaceFirst("^Assumption failed: *", "")
                        .replaceAll("\\d+", "N");
                first = first.length() > LONGEST_REASON ? first.substring(0, LONGEST_REASON) + "…" : first;
                String type = test.type().substring(test.type().lastIndexOf('.') + 1);
                reasons.computeIfAbsent(first.isEmpty() ? "(no reason given)" : first, key -> new ArrayList<>())
                        .add(type + "." + test.name());
            }
        }
        if (reasons.isEmpty()) {
            return;
        }
        System.out.println("Skipped, by reason:");
        reasons.forEach((reason, those) -> {
            System.out.printf("  %4d  %s%n", those.size(), reason);
            those.stream().map(name -> "          " + name).limit(4).forEach(System.out::println);
            if (those.size() > 4) {
                System.out.println("          and " + (those.size() - 4) + " more");
            }
        });
    }

    /** The tests of the contract that no variant of a transport has run. */
    private static List<String> neverRun(List<Test> tests, List<String> transports) {
        Map<String, TreeSet<String>> run = new TreeMap<>();
        TreeSet<String> known = new TreeSet<>();
        for (Test test : tests) {
            Matcher type = CONTRACT.matcher(test.type());
            Matcher method = METHOD.matcher(test.name());
            if (type.matches() && method.lookingAt()) {
                known.add(method.group());
                if (test.outcome() != Outcome.SKIPPED) {
                    run.computeIfAbsent(type.group(1), name -> new TreeSet<>()).add(method.group());
                }
            }
        }
        List<String> missing = new ArrayList<>();
        for (String transport : transports) {
            TreeSet<String> those = run.getOrDefault(transport, new TreeSet<>());
            known.stream()
                    .filter(method -> !those.contains(method))
                    .forEach(method -> missing.add(transport + ": " + method));
        }
        return missing;
    }
}
