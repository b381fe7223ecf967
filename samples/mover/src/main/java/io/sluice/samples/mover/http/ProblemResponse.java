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
    private ProblemResponse() {}

    static void addTo(Router router) {
        router.route().failureHandler(ProblemResponse::failed);
        // Requests without a matching route come here and not to a failure handler.
        router.errorHandler(Problems.NOT_FOUND.status(), ProblemResponse::failed);
        router.errorHandler(Problems.METHOD_NOT_ALLOWED.status(), ProblemResponse::failed);
    }

    static void send(RoutingContext context, Problem problem) {
        HttpServerResponse response = context.response();
        if (response.ended() || response.headWritten()) {
            context.request().connection().close();
            return;
        }
        if (problem.status() == Problems.TOO_MANY.status() || problem.status() == Problems.MOVER_SILENT.status()) {
            response.putHeader("Retry-After", "1");
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
        Throwable cause = failure instanceof HttpException http && http.getCause() != null ? http.getCause() : failure;
        if (cause instanceof ValidatorException invalid) {
            return Problems.INVALID_REQUEST.with(String.valueOf(invalid.getMessage()));
        }
        int told = failure instanceof HttpException http ? http.getStatusCode() : status;
        String path = String.valueOf(context.request().path());
        if (told == Problems.NOT_FOUND.status()) {
            return Problems.NOT_FOUND.with(path);
        }
        if (told == Problems.METHOD_NOT_ALLOWED.status()) {
            return Problems.METHOD_NOT_ALLOWED.with(context.request().method(), path);
        }
        if (told == Problems.TOO_LARGE.status()) {
            return Problems.TOO_LARGE.with();
        }
        if (told >= 400 && told <= 499) {
            Problem invalid = Problems.INVALID_REQUEST.with(
                    failure == null ? "status " + told : String.valueOf(failure.getMessage()));
            return new Problem(invalid.kind(), told, invalid.title(), invalid.detail(), invalid.action());
        }
        return Problems.of(failure == null ? new IllegalStateException("status " + told) : failure);
    }
}
