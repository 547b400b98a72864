// Collectives by NCCL. Communicators are non-blocking, so that a member that does not come ends the
// wait of the others instead of keeping them for ever.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runner/cuda/collectives.h"
#include "runner/cuda/communicator_config.h"
#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/poll_pause.h"
#include "runner/cuda/vendor_functions.h"
#include "runner/cuda/watchdog.h"

namespace llmb::runner::cuda {
namespace {

static_assert(sizeof(ncclUniqueId) == sizeof(CommunicatorId));

ncclDataType_t data_type(NumberType type) {
  switch (type) {
    case NumberType::float32:
      return ncclFloat32;
    case NumberType::float64:
      return ncclFloat64;
    case NumberType::bf16:
      return ncclBfloat16;
    case NumberType::int32:
      return ncclInt32;
    case NumberType::int64:
      return ncclInt64;
    default:
      return ncclUint8;
  }
}

void check_reduced(NumberType type) {
  if (!is_fp8(type) && type != NumberType::byte) return;
  throw std::invalid_argument(fmt::format("{} is not reduced.", name_of(type)));
}

// Until a non-blocking call has got as far as a blocking one would be when it returns. `state` says
// how far it is. Nothing of it is watched yet where members join: so this asks who is gone.
template <typename State>
void finish(ncclResult_t status, const CommunicatorOptions& options, const std::string& tried,
            State state) {
  const auto begin = std::chrono::steady_clock::now();
  while (status == ncclInProgress) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (const std::string gone = options.who_is_gone ? options.who_is_gone() : ""; !gone.empty()) {
      throw CommunicatorFailed(tried, "communicator failed", gone,
                               "The first rank to fail says why in its own log.");
    }
    if (waited > options.patience) {
      throw CommunicatorFailed(tried, "communicator failed",
                               fmt::format("waited {:.1f} s for the other members",
                                           std::chrono::duration<double>(options.patience).count()),
                               "A member did not come: its own log says why.");
    }
    const std::chrono::microseconds pause = pause_after(waited);
    pause.count() > 0 ? std::this_thread::sleep_for(pause) : std::this_thread::yield();
    status = state();
  }
  check(status, tried);
}

// Of one that is watched: its state() tells what the watchdog found.
void finish(ncclResult_t status, const WatchedCommunicator& communicator,
            const std::string& tried) {
  finish(status, {.patience = communicator.patience()}, tried,
         [&] { return communicator.state(); });
}

struct GroupedCall {
  std::shared_ptr<WatchedCommunicator> communicator;
  Stream stream;
};
struct OpenGroup {
  bool is_open = false;
  std::vector<GroupedCall> calls;
  std::vector<WatchedCommunicator::Use> uses;  // until the group is put on its streams
};
thread_local OpenGroup open_group;

class NcclCommunicator : public DeviceCommunicator {
 public:
  NcclCommunicator(const std::string& name, const std::vector<int>& ranks, int rank,
                   const CommunicatorId& id, const CommunicatorOptions& options)
      : DeviceCommunicator(name, ranks, rank), options_(options) {
    ncclUniqueId unique{};
    std::memcpy(&unique, id.bytes.data(), sizeof(unique));
    ncclConfig_t config = communicator_config(CommunicatorUse::collectives);
    ncclComm_t comm = nullptr;
    const std::string tried = "join " + describe_group();
    const ncclResult_t status =
        nccl().ncclCommInitRankConfig(&comm, size(), unique, this->rank(), &config);
    adopt(comm, status, tried);
  }

  ~NcclCommunicator() override {
    if (!watched_) return;
    const bool has_failed = std::uncaught_exceptions() > exceptions_before_;
    Watchdog::of_this_process().close(
        watched_, has_failed ? fmt::format("rank {} failed", global_rank()) : "");
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  void add_name(const std::string& name) override {
    DeviceCommunicator::add_name(name);
    watched_->set_group(describe_group());
  }

  std::unique_ptr<DeviceCommunicator> split(const std::string& name, const std::vector<int>& ranks,
                                            CommunicatorUse use) override {
    std::unique_ptr<NcclCommunicator> part;
    if (!ranks.empty()) part.reset(new NcclCommunicator(name, ranks, global_rank(), options_));
    const std::string tried =
        fmt::format("split {} [{}] off {}", name, fmt::join(ranks, ", "), describe_group());
    ncclConfig_t config = communicator_config(use);
    WatchedCommunicator::Use held = watched_->use();
    const ncclResult_t status =
        nccl().ncclCommSplit(watched_->get(), part ? ranks.front() : NCCL_SPLIT_NOCOLOR,
                             part ? part->rank() : 0, watched_->begin_split(), &config);
    held.unlock();
    // The parent tells how far the split is, whatever the call answered; the part is there no
    // sooner.
    finish(status == ncclSuccess ? ncclInProgress : status, *watched_, tried);
    const ncclComm_t comm = watched_->end_split();
    if (!part) return part;
    if (!comm) throw DeviceError(tried, "communicator failed", "NCCL made none", "");
    part->adopt(comm, ncclInProgress, tried);
    return part;
  }

  void all_reduce(const void* from, void* to, std::int64_t count, NumberType type,
                  Reduction reduction, Stream stream) override {
    check_reduced(type);
    call("all_reduce", stream, [&] {
      return nccl().ncclAllReduce(from, to, static_cast<std::size_t>(count), data_type(type),
                                  reduction == Reduction::sum ? ncclSum : ncclMax, watched_->get(),
                                  stream);
    });
  }
  void all_gather(const void* from, void* to, std::int64_t count, NumberType type,
                  Stream stream) override {
    call("all_gather", stream, [&] {
      return nccl().ncclAllGather(from, to, static_cast<std::size_t>(count), data_type(type),
                                  watched_->get(), stream);
    });
  }
  void reduce_scatter(const void* from, void* to, std::int64_t count, NumberType type,
                      Stream stream) override {
    check_reduced(type);
    call("reduce_scatter", stream, [&] {
      return nccl().ncclReduceScatter(from, to, static_cast<std::size_t>(count), data_type(type),
                                      ncclSum, watched_->get(), stream);
    });
  }
  void all_to_all(const void* from, std::span<const std::int64_t> sent, void* to,
                  std::span<const std::int64_t> received, NumberType type, Stream stream) override {
    check_counts(sent, received);
    const bool is_inside = open_group.is_open;
    WatchedCommunicator::Use use = watched_->use();
    if (!is_inside) begin_watched("all_to_all", stream);
    check(nccl().ncclGroupStart(), "begin an all_to_all");
    const auto* from_bytes = static_cast<const std::byte*>(from);
    auto* to_bytes = static_cast<std::byte*>(to);
    for (int member = 0; member < size(); ++member) {
      const auto place = static_cast<std::size_t>(member);
      const auto out = static_cast<std::size_t>(sent[place]);
      const auto in = static_cast<std::size_t>(received[place]);
      if (out > 0)
        exchange(
            nccl().ncclSend(from_bytes, out, data_type(type), member, watched_->get(), stream));
      if (in > 0)
        exchange(nccl().ncclRecv(to_bytes, in, data_type(type), member, watched_->get(), stream));
      from_bytes += out * bytes_of(type);
      to_bytes += in * bytes_of(type);
    }
    const ncclResult_t status = nccl().ncclGroupEnd();
    if (is_inside) return remember(stream, std::move(use));
    use.unlock();
    finish(status, *watched_, describe("all_to_all", calls_));
    watched_->end_call(stream);
  }
  void broadcast(void* data, std::int64_t count, NumberType type, int root,
                 Stream stream) override {
    check_member(root);
    call("broadcast", stream, [&] {
      return nccl().ncclBroadcast(data, data, static_cast<std::size_t>(count), data_type(type),
                                  root, watched_->get(), stream);
    });
  }
  void send(const void* from, std::int64_t count, NumberType type, int to, Stream stream) override {
    check_member(to);
    call("send", stream, [&] {
      return nccl().ncclSend(from, static_cast<std::size_t>(count), data_type(type), to,
                             watched_->get(), stream);
    });
  }
  void receive(void* to, std::int64_t count, NumberType type, int from, Stream stream) override {
    check_member(from);
    call("receive", stream, [&] {
      return nccl().ncclRecv(to, static_cast<std::size_t>(count), data_type(type), from,
                             watched_->get(), stream);
    });
  }

 private:
  NcclCommunicator(const std::string& name, const std::vector<int>& ranks, int rank,
                   const CommunicatorOptions& options)
      : DeviceCommunicator(name, ranks, rank), options_(options) {}

  void adopt(ncclComm_t comm, ncclResult_t status, const std::string& tried) {
    try {
      finish(status, options_, tried, [comm] {
        ncclResult_t state = ncclSuccess;
        check(nccl().ncclCommGetAsyncError(comm, &state), "look at a new communicator");
        return state;
      });
    } catch (...) {
      if (comm) nccl().ncclCommAbort(comm);
      throw;
    }
    watched_ = std::make_shared<WatchedCommunicator>(comm, describe_group(), current_device().index,
                                                     options_.patience, options_.who_is_gone);
    Watchdog::of_this_process().watch(watched_);
  }

  void begin_watched(const char* what, Stream stream) {
    watched_->begin_call(stream, describe(what, ++calls_));
  }
  void remember(Stream stream, WatchedCommunicator::Use use) {
    open_group.calls.push_back({watched_, stream});
    open_group.uses.push_back(std::move(use));
  }
  static void exchange(ncclResult_t status) {
    if (status != ncclInProgress) check(status, "put an exchange on a stream");
  }

  template <typename Put>
  void call(const char* what, Stream stream, Put put) {
    WatchedCommunicator::Use use = watched_->use();
    if (open_group.is_open) {
      exchange(put());
      return remember(stream, std::move(use));
    }
    begin_watched(what, stream);
    const ncclResult_t status = put();
    use.unlock();
    finish(status, *watched_, describe(what, calls_));
    watched_->end_call(stream);
  }

  const CommunicatorOptions options_;
  const int exceptions_before_ = std::uncaught_exceptions();
  std::shared_ptr<WatchedCommunicator> watched_;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<DeviceCommunicator> DeviceCommunicator::make(const std::string& name,
                                                             const std::vector<int>& ranks,
                                                             int rank, const ShareId& share_id,
                                                             const CommunicatorOptions& options) {
  return std::make_unique<NcclCommunicator>(name, ranks, rank, shared_id(ranks, rank, share_id),
                                            options);
}

CommunicatorId make_communicator_id() {
  ncclUniqueId unique{};
  check(nccl().ncclGetUniqueId(&unique), "make a communicator's id");
  CommunicatorId id;
  std::memcpy(id.bytes.data(), &unique, sizeof(unique));
  return id;
}

CallGroup::CallGroup() {
  if (open_group.is_open) throw std::logic_error("A group of calls stands inside another one.");
  check(nccl().ncclGroupStart(), "begin a group of calls");
  open_group.is_open = true;
}

void CallGroup::end() {
  if (!is_open_) return;
  is_open_ = false;
  OpenGroup group = std::exchange(open_group, {});
  // One note for the watchdog a communicator and stream.
  std::vector<GroupedCall> watched;
  for (const GroupedCall& call : group.calls) {
    const bool is_known = std::any_of(watched.begin(), watched.end(), [&](const auto& other) {
      return other.communicator == call.communicator && other.stream == call.stream;
    });
    if (is_known) continue;
    watched.push_back(call);
    call.communicator->begin_call(call.stream, "a group of calls in " + call.communicator->group());
  }
  const ncclResult_t status = nccl().ncclGroupEnd();
  group.uses.clear();
  for (const GroupedCall& call : watched) {
    finish(status, *call.communicator, "end a group of calls in " + call.communicator->group());
    call.communicator->end_call(call.stream);
  }
  if (watched.empty()) check(status, "end an empty group of calls");
}

std::string collectives_library() {
  int version = 0;
  check(nccl().ncclGetVersion(&version), "ask NCCL for its version");
  return fmt::format("NCCL {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace llmb::runner::cuda
