package io.sluice.samples.mover.http;

import io.sluice.samples.mover.problem.Problem;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import io.vertx.openapi.validation.ValidatorException;
import org.jspecify.annotations.Nullable;

/** Answers every failure with a problem. */
final class ProblemResponse {

    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int TOO_LARGE = 413;
    private static final int FIRST_ERROR = 400;
    private static final int LAST_OF_CLIENT = 499;
    private static final String RETRY_SECONDS = "1";

    private ProblemResponse() {}

    /** Makes a router answer all its failures so. */
    static void addTo(Router router) {
        router.route().failureHandler(ProblemResponse::failed);
        // What no route has taken comes here and not to a failure handler.
        router.errorHandler(Problems.NOT_FOUND.status(), ProblemResponse::failed);
        router.errorHandler(METHOD_NOT_ALLOWED, ProblemResponse::failed);
    }

    static void send(RoutingContext context, Problem problem) {
        HttpServerResponse response = context.response();
        if (response.ended() || response.headWritten()) {
            context.request().connection().close();
            return;
        }
        if (problem.status() == Problems.TOO_MANY.status() || problem.status() == Problems.MOVER_SILENT.status()) {
            response.putHeader("Retry-After", RETRY_SECONDS);
        }
        response.setStatusCode(problem.status())
                .putHeader("Content-Type", Problem.MEDIA_TYPE)
                .end(problem.toJson().put("instance", context.request().path()).toBuffer());
    }

    private static void failed(RoutingContext context) {
        if (context.failure() instanceof HttpClosedException) {
            // the client has gone, so there is no answer, and it is no fault of the mover's to be logged
            return;
        }
        send(context, problem(context.statusCode(), context.failure(), context));
    }

    private static Problem problem(int status, @Nullable Throwable failure, RoutingContext context) {
        if (failure instanceof ValidatorException invalid) {
            return Problems.INVALID_REQUEST.with(String.valueOf(invalid.getMessage()));
        }
        if (failure instanceof HttpException http && http.getCause() instanceof ValidatorException invalid) {
            return Problems.INVALID_REQUEST.with(String.valueOf(invalid.getMessage()));
        }
        int told = failure instanceof HttpException http ? http.getStatusCode() : status;
        if (told == Problems.NOT_FOUND.status()) {
            return Problems.NOT_FOUND.with(String.valueOf(context.request().path()));
        }
        if (told == METHOD_NOT_ALLOWED) {
            return new Problem(
                    "method-not-allowed",
                    METHOD_NOT_ALLOWED,
                    "This cannot be done here",
                    context.request().method() + " is not among the methods of "
                            + context.request().path(),
                    "See /openapi.yaml.");
        }
        if (told == TOO_LARGE) {
            return new Problem(
                    "too-large",
                    TOO_LARGE,
                    "The request is too large",
                    "its body is larger than this server takes",
                    "Ask for fewer blocks at a time.");
        }
        if (told >= FIRST_ERROR && told <= LAST_OF_CLIENT) {
            Problem invalid = Problems.INVALID_REQUEST.with(
                    failure == null ? "status " + told : String.valueOf(failure.getMessage()));
            return new Problem(invalid.kind(), told, invalid.title(), invalid.detail(), invalid.action());
        }
        return Problems.of(failure == null ? new IllegalStateException("status " + told) : failure);
    }
}
