package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.Token;
import io.sluice.engine.TokenSource;
import io.sluice.engine.transport.EventLoop;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * The credentials that an engine presents, and those it accepts from peers. They may come from files or a vault, so no
 * poller loads them.
 */
public final class Credentials {
    private final @Nullable TlsOptions tls;
    private final @Nullable TokenSource tokens;
    // of a source that has nothing to wait for
    private final @Nullable List<Token> fixed;
    // the last loaded tokens, which recognize most peers before the source is asked
    private volatile List<Token> lately = List.of();

    /** Loads all credentials once, so that errors are found when the engine opens. */
    public Credentials(EngineOptions options) {
        tokens = options.tokens();
        boolean changes = tokens != null && options.token() == null;
        fixed = tokens == null ? List.of() : changes ? null : List.copyOf(tokens.tokens());
        load();
        tls = options.tls();
        if (tls != null) {
            tls.context();
        }
    }

    /** Returns the TLS options; null if sockets are plain. */
    @Nullable
    TlsOptions tls() {
        return tls;
    }

    /** Whether peers must authenticate. */
    public boolean areAsked() {
        return tokens != null || tls != null;
    }

    /** Returns the TLS engine of a socket to an address; null if it is plain. */
    public @Nullable Supplier<SSLEngine> connecting(InetSocketAddress to) {
        return tls == null ? null : TlsEngines.connecting(tls, to);
    }

    /** Whether peers must know a token. */
    boolean hasTokens() {
        return tokens != null;
    }

    /** Loads the current tokens; none if none are required. Not on a poller. */
    List<Token> load() {
        TokenSource source = tokens;
        if (source == null) {
            return List.of();
        }
        List<Token> found = List.copyOf(source.tokens());
        if (found.isEmpty() || found.size() > TokenSource.MAX_TOKENS) {
            throw new SluiceException(
                    "the token source returned " + found.size() + " tokens instead of 1 to " + TokenSource.MAX_TOKENS);
        }
        lately = found;
        return found;
    }

    /** Returns the tokens of the last load, which may be out of date unless they {@linkplain #areFixed() are fixed}. */
    List<Token> lately() {
        return lately;
    }

    /** Whether they never change. */
    boolean areFixed() {
        return fixed != null;
    }

    /**
     * Loads the current tokens and passes them on, on the loop's thread; inside this call if there is nothing to wait
     * for.
     *
     * @param log the log for a failure, bounded because strangers can cause it
     * @param then receives the tokens, or none if they are not available
     */
    void load(EventLoop loop, RefusalLog log, Consumer<List<Token>> then) {
        List<Token> known = fixed;
        if (known != null) {
            then.accept(known);
            return;
        }
        Thread.ofVirtual().name("sluice-tokens").start(() -> {
            List<Token> found;
            try {
                found = load();
            } catch (RuntimeException e) {
                log.log(Level.WARN, "the tokens are not available, so no peer can be authenticated", e);
                found = List.of();
            }
            List<Token> loaded = found;
            loop.execute(() -> then.accept(loaded));
        });
    }
}
