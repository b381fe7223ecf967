extern "C" {
#include "arguments.h"
}
#include "collective.h"

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr uint64_t kMostRanks = 64;

std::shared_ptr<gloo::rendezvous::Context> context;

/* The older interface works in place, on memory that it is made for. */
std::map<float *, std::unique_ptr<gloo::AllreduceHalvingDoubling<float>>> prepared;

void ring(const float *source, float *target, size_t count) {
    gloo::AllreduceOptions options(context);
    options.setInput(const_cast<float *>(source), count);
    options.setOutput(target, count);
    options.setReduceFunction(
            static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    gloo::allreduce(options);
}

void halving(const float *, float *target, size_t count) {
    auto &algorithm = prepared[target];
    if (!algorithm) {
        algorithm = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(
                context, std::vector<float *>{target}, static_cast<int>(count));
    }
    algorithm->run();
}

void barrier() {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
}

int64_t agreed(int64_t number) {
    gloo::BroadcastOptions options(context);
    options.setOutput(&number, 1);
    options.setRoot(0);
    gloo::broadcast(options);
    return number;
}

int64_t greatest(int64_t number) {
    gloo::AllreduceOptions options(context);
    options.setOutput(&number, 1);
    options.setReduceFunction(
            static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::max<int64_t>));
    gloo::allreduce(options);
    return number;
}

int run(int rank, int ranks, const std::string &folder, char **arguments) {
    struct plan plan;
    if (!plan_parse(arguments, rank, &plan)) {
        return STATUS_USAGE;
    }
    plan.in_place = std::strcmp(plan.mode, "allreduce-halving") == 0;
    try {
        gloo::transport::tcp::attr attributes;
        attributes.hostname = "127.0.0.1";
        auto device = gloo::transport::tcp::CreateDevice(attributes);
        gloo::rendezvous::FileStore store(folder);
        context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
        context->connectFullMesh(store, device);
        struct library library = {rank, ranks, plan.in_place ? halving : ring, barrier, agreed, greatest};
        int status = measure(&plan, &library);
        /* A rank that ends first is a lost peer to the others. */
        std::fflush(stdout);
        barrier();
        return status;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        return STATUS_FAILED;
    }
}

}  // namespace

int main(int count, char **arguments) {
    uint64_t ranks = 0;
    if (count != 7 || !number(arguments[1], 1, kMostRanks, &ranks)) {
        std::fputs("usage: RANKS MODE SIZE PROCESSORS WARMUP_MS DURATION_MS,"
                   " with MODE allreduce-ring, allreduce-halving or barrier\n",
                stderr);
        return STATUS_USAGE;
    }
    const char *temporary = std::getenv("TMPDIR");
    std::string folder = std::string(temporary == nullptr ? "/tmp" : temporary) + "/gloo-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
        std::perror("a folder for the ranks to meet cannot be made");
        return STATUS_FAILED;
    }
    for (uint64_t rank = 0; rank < ranks; rank++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            std::_Exit(run(static_cast<int>(rank), static_cast<int>(ranks), folder, arguments + 2));
        }
    }
    int result = 0;
    for (uint64_t rank = 0; rank < ranks; rank++) {
        int status = 0;
        wait(&status);
        if (status != 0) {
            result = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
            /* The others would wait for it. */
            signal(SIGTERM, SIG_IGN);
            kill(0, SIGTERM);
        }
    }
    std::string command = "rm -rf '" + folder + "'";
    return std::system(command.c_str()) == 0 ? result : STATUS_FAILED;
}
