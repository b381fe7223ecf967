package io.sluice.samples.mover.problem;

import io.sluice.directory.DirectoryFormatException;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.TransportUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The problems that there are, as a table: status, title, what happened, and what to do. In the last two {@code %1$s} is
 * the first value that a problem is made with.
 */
public enum Problems {
    INVALID_REQUEST(400, "The request is not as the contract says", "%1$s", "Compare the request with /openapi.yaml."),
    IMPOSSIBLE_REQUEST(422, "The request cannot be met", "%1$s", "Change the request as the detail says."),
    UNKNOWN_POOL(
            404,
            "There is no such pool",
            "there is no pool '%1$s'",
            "Register it with POST /api/pools, on both movers; GET /api/pools lists those that there are."),
    UNKNOWN_POOL_AT_PEER(
            409,
            "The peer has no such pool",
            "the peer has no pool '%1$s'",
            "Register it with POST /api/pools of that peer."),
    POOL_EXISTS(
            409,
            "The name is taken",
            "there is a pool '%1$s' already",
            "Choose another name, or close that one with DELETE /api/pools/%1$s."),
    POOL_IN_USE(
            409,
            "The pool is in use",
            "blocks of the pool '%1$s' are being moved",
            "Cancel the moves, or wait for their end, and try again."),
    POOL_FULL(
            409,
            "There is no room",
            "all blocks of the pool '%1$s' are being read or written",
            "Try again when other moves have ended, or register a larger pool."),
    DIFFERENT_LAYOUT(
            409,
            "The pools do not fit each other",
            "the pool '%1$s' has other layers, pages or blocks at the peer",
            "Register both with the same model, or the same layers, page bytes and pages per block."),
    MEMORY_LIMIT(
            507,
            "The pool is too large",
            "it takes %1$s bytes, and %2$s bytes are left of this mover's memory",
            "Ask for fewer blocks, close a pool, or start the mover with a larger --memory."),
    TOO_MANY(429, "There is a limit", "there are %2$s %1$s already", "%3$s"),
    COMPUTES_NOTHING(
            409,
            "A decode mover computes no blocks",
            "blocks are computed on a prefill mover, and moved from there",
            "Send this to a prefill mover."),
    UNKNOWN_PEER(
            404,
            "There is no such peer",
            "the directory knows no mover '%1$s'",
            "GET /api/peers lists those that it knows; one that has died is gone, and back once it has restarted."),
    PEER_LOST(
            502,
            "The connection to the peer has ended",
            "%1$s",
            "Try again: the next move connects to the engine that the directory names then."),
    PEER_RESTARTED(
            409,
            "The peer has restarted",
            "the engine at the address of '%1$s' is another run than the directory names",
            "Try again: the directory names the new run within seconds."),
    PEER_SILENT(
            504,
            "The peer does not answer",
            "the peer has not answered a question for %1$s ms",
            "See whether it is busy or hangs; try again."),
    PEER_WRONG(502, "The peer's answer makes no sense", "%1$s", "See which version of the program the peer has."),
    UNKNOWN_BLOCKS(
            404,
            "Some blocks are not there",
            "%1$s",
            "GET /api/blocks with this pool and the peer lists the blocks that it has."),
    CORRUPTED_PAGES(
            502,
            "Pages have arrived corrupted",
            "%1$s pages do not fit their seals: %2$s",
            "The blocks concerned were not taken in. Compute them again where they come from, and move them again."),
    UNKNOWN_MOVE(
            404,
            "There is no such move",
            "there is no move '%1$s', or it ended so long ago that it was forgotten",
            "GET /api/moves lists those that are known."),
    MOVER_SILENT(
            503,
            "The mover does not answer",
            "no mover '%1$s' answers",
            "It may be starting or overloaded: try again in a second."),
    TOO_MANY_STREAMS(
            503,
            "Too many clients listen for events",
            "%1$s clients listen for events, which is the limit",
            "Try again later, or ask GET /api/moves from time to time."),
    UNKNOWN_HOST(
            421,
            "This machine is asked under a name that it does not know",
            "only loopback is served here, by the names 127.0.0.1, localhost and [::1]",
            "Use one of these, or start the mover with --http-host."),
    FOREIGN_ORIGIN(
            403,
            "A page of another origin has asked",
            "the header Origin names another host or port than the header Host",
            "Use the page that this server serves; a proxy before it must pass the header Host on."),
    METHOD_NOT_ALLOWED(405, "This cannot be done here", "%1$s is not among the methods of %2$s", "See /openapi.yaml."),
    TOO_LARGE(
            413,
            "The request is too large",
            "its body is larger than this server takes",
            "Ask for fewer blocks at a time."),
    NOT_FOUND(404, "There is nothing here", "nothing is served at %1$s", "See /openapi.yaml."),
    DIRECTORY_UNAVAILABLE(
            503,
            "The directory does not answer",
            "%1$s",
            "Moves under way go on. Try again when the directory is back."),
    DIRECTORY_DAMAGED(
            502, "What the directory says cannot be read", "%1$s", "See which version of the program the peer has."),
    PEER_REFUSED(502, "The peer does not accept this mover", "%1$s", "Give both the same SLUICE_TOKEN."),
    PEER_UNREACHABLE(
            502,
            "The peer cannot be reached",
            "%1$s",
            "If it has died, the directory forgets it within seconds; try another peer meanwhile."),
    NO_COMMON_TRANSPORT(
            502, "There is no transport to the peer", "%1$s", "'sluice info' on both machines lists what they have."),
    TRANSFER_TIMEOUT(504, "A transfer took too long", "%1$s", "Try again."),
    NO_MEMORY(507, "The memory is not to be had", "%1$s", "Ask for a smaller pool, or give the process more memory."),
    POOL_GONE(
            409,
            "The peer's pool is not there any more",
            "%1$s",
            "See whether the peer still has the pool, and try again."),
    INTERNAL(500, "This program has made a mistake", "%1$s", "See its log, and please report it.");

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    private final int status;
    private final String title;
    private final String detail;
    private final String action;

    Problems(int status, String title, String detail, String action) {
        this.status = status;
        this.title = title;
        this.detail = detail;
        this.action = action;
    }

    public int status() {
        return status;
    }

    /** This problem with what it is about, in the order of the table. */
    public Problem with(Object... values) {
        return problem(detail.formatted(values), action.formatted(values));
    }

    public Problem.ProblemException exception(Object... values) {
        return with(values).asException();
    }

    /** A future that has failed with it. */
    public <T> Future<T> failed(Object... values) {
        return Future.failedFuture(exception(values));
    }

    private Problem told(Throwable error) {
        return problem(text(error), action);
    }

    private Problem problem(String happened, String advice) {
        return new Problem(name().toLowerCase(Locale.ROOT).replace('_', '-'), status, title, happened, advice);
    }

    /** The problem that an error is to a client. */
    public static Problem of(Throwable error) {
        return switch (error) {
            case Problem.ProblemException told -> told.problem();
            case ReplyException reply -> ofReply(reply);
            case ElementsFailedException elements when elements.getCause() != null -> of(elements.getCause());
            case EngineNotFoundException gone -> UNKNOWN_PEER.told(gone);
            case DirectoryUnavailableException down -> DIRECTORY_UNAVAILABLE.told(down);
            case DirectoryFormatException damaged -> DIRECTORY_DAMAGED.told(damaged);
            case AuthenticationException refused -> PEER_REFUSED.told(refused);
            case ConnectFailedException unreachable -> PEER_UNREACHABLE.told(unreachable);
            case TransportUnavailableException none -> NO_COMMON_TRANSPORT.told(none);
            case ConnectionLostException lost -> PEER_LOST.told(lost);
            case TransferTimeoutException late -> TRANSFER_TIMEOUT.told(late);
            case StaleDescriptorException _, InvalidDescriptorException _, RemoteAccessException _ ->
                POOL_GONE.told(error);
            case RegionClosedException _, RegionNotFoundException _ -> POOL_GONE.told(error);
            case RegistrationException memory -> NO_MEMORY.told(memory);
            case IllegalArgumentException wrong -> IMPOSSIBLE_REQUEST.told(wrong);
            default -> internal(error);
        };
    }

    private static Problem ofReply(ReplyException reply) {
        if (reply.failureType() != ReplyFailure.RECIPIENT_FAILURE) {
            return MOVER_SILENT.with(text(reply));
        }
        try {
            return Problem.fromJson(new JsonObject(text(reply)));
        } catch (DecodeException e) {
            return internal(reply);
        }
    }

    private static Problem internal(Throwable error) {
        LOG.warn("Unexpected", error);
        return INTERNAL.told(error);
    }

    private static String text(Throwable error) {
        String message = error.getMessage();
        return message == null ? error.getClass().getSimpleName() : message;
    }
}
