package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A rank in a process of its own: forms the team that it is told, and calls collectives until one fails. */
final class RankProcessMain {
    /** What a line begins with that answers. */
    static final char ANSWER = '@';

    private RankProcessMain() {}

    private static void answer(String answer) {
        System.out.println(ANSWER + answer);
        System.out.flush();
    }

    /**
     * Runs it.
     *
     * @param arguments the transport
     */
    public static void main(String[] arguments) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of(arguments[0]))
                .livenessTimeout(Patience.longBound())
                .pollers(1)
                .build())) {
            answer("address " + engine.address());
            // the name, the rank, the number of ranks, and the address of rank 0
            String[] words = commands.readLine().split(" ");
            Team team = Patience.await(
                    Team.form(
                            engine,
                            TeamOptions.rank(Integer.parseInt(words[1]))
                                    .of(Integer.parseInt(words[2]))
                                    .name(words[0])
                                    .rendezvous(EngineAddress.parse(words[3]))
                                    .timeout(Patience.longBound())
                                    .formTimeout(Patience.longBound())),
                    Patience.longBound());
            answer("formed");
            MixedCalls calls = new MixedCalls(engine, team, Long.MAX_VALUE).start();
            List<SluiceException> errors = calls.done().join();
            SluiceException first = errors.getFirst();
            answer("ended " + first.getClass().getSimpleName() + " of " + errors.size() + ": " + first.getMessage());
            calls.close();
        }
    }
}
