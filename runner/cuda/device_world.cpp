#include "runner/cuda/device_world.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "runner/cuda/collectives.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {
namespace {

NumberType number_type_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return NumberType::float32;
    case ElementType::float64:
      return NumberType::float64;
    case ElementType::bfloat16:
      return NumberType::bf16;
    case ElementType::int32:
      return NumberType::int32;
    case ElementType::int64:
      return NumberType::int64;
    case ElementType::byte:
      break;
  }
  return NumberType::byte;
}

std::int64_t count_of(const ConstBuffer& buffer) {
  return static_cast<std::int64_t>(buffer.count);
}
std::int64_t count_of(const Buffer& buffer) {
  return static_cast<std::int64_t>(buffer.count);
}

std::vector<std::int64_t> signed_counts(std::span<const std::size_t> counts) {
  return {counts.begin(), counts.end()};
}

// What both kinds of group do by way of the host.
class StreamGroup : public Communicator {
 public:
  StreamGroup(std::unique_ptr<Communicator> host, Stream stream)
      : Communicator(host->name(), host->ranks(), host->rank()),
        host_(std::move(host)),
        stream_(stream) {}

 protected:
  Communicator& host() { return *host_; }
  Stream stream() const { return stream_; }

 private:
  void do_barrier(const CallTag& tag) override {
    synchronize(stream_);
    host_->barrier(tag);
  }

  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    std::vector<std::byte> message(data.bytes());
    copy_async(message.data(), data.data, message.size(), CopyDirection::to_host, stream_);
    synchronize(stream_);
    host_->send(message, to, tag);
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    std::vector<std::byte> message(data.bytes());
    host_->recv(message, from, tag);
    copy_async(data.data, message.data(), message.size(), CopyDirection::to_device, stream_);
    synchronize(stream_);
  }

  std::unique_ptr<Communicator> host_;
  Stream stream_;
};

class DeviceGroup final : public StreamGroup {
 public:
  DeviceGroup(std::unique_ptr<Communicator> host_group, Stream on_stream)
      : StreamGroup(std::move(host_group), on_stream) {
    const auto share_id = [this](const CommunicatorId* mine) {
      CommunicatorId id = mine ? *mine : CommunicatorId{};
      host().broadcast(std::span<std::byte>(id.bytes), 0, "device.communicator_id");
      return id;
    };
    device_ = DeviceCommunicator::make(name(), ranks(), global_rank(), share_id);
  }

 private:
  void do_all_reduce(Buffer data, ReduceOp op, const CallTag& /*tag*/) override {
    device_->all_reduce(data.data, data.data, count_of(data), number_type_of(data.type),
                        op == ReduceOp::sum ? Reduction::sum : Reduction::max, stream());
  }

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) override {
    device_->all_gather(mine.data, all.data, count_of(mine), number_type_of(mine.type), stream());
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) override {
    device_->reduce_scatter(all.data, mine.data, count_of(mine), number_type_of(mine.type),
                            stream());
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts,
                     const CallTag& /*tag*/) override {
    device_->all_to_all(sent.data, signed_counts(sent_counts), received.data,
                        signed_counts(received_counts), number_type_of(sent.type), stream());
  }

  void do_broadcast(Buffer data, int root, const CallTag& /*tag*/) override {
    device_->broadcast(data.data, count_of(data), number_type_of(data.type), root, stream());
  }

  std::unique_ptr<DeviceCommunicator> device_;
};

// A group of one member, or of one that is there: its own data, again and again, for what others
// would send, as loopback_communicator.h has it for the host's memory.
class LoneGroup final : public StreamGroup {
 public:
  using StreamGroup::StreamGroup;

 private:
  void do_all_reduce(Buffer /*data*/, ReduceOp /*op*/, const CallTag& /*tag*/) override {}
  void do_broadcast(Buffer /*data*/, int /*root*/, const CallTag& /*tag*/) override {}

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) override {
    fill_with(all.data, all.bytes(), mine.data, mine.bytes());
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) override {
    const auto* part =
        static_cast<const std::byte*>(all.data) + static_cast<std::size_t>(rank()) * mine.bytes();
    fill_with(mine.data, mine.bytes(), part, mine.bytes());
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts,
                     const CallTag& /*tag*/) override {
    const std::size_t width = bytes_of(sent.type);
    const auto* from = static_cast<const std::byte*>(sent.data);
    auto* to = static_cast<std::byte*>(received.data);
    for (std::size_t i = 0; i < sent_counts.size(); ++i) {
      fill_with(to, received_counts[i] * width, from, sent_counts[i] * width);
      from += sent_counts[i] * width;
      to += received_counts[i] * width;
    }
  }

  // Fills `to` with `from` from its beginning, again and again; zeros where there is nothing.
  void fill_with(void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) const {
    auto* out = static_cast<std::byte*>(to);
    if (from_bytes == 0) {
      if (to_bytes > 0) fill_async(out, 0, to_bytes, stream());
      return;
    }
    for (std::size_t at = 0; at < to_bytes; at += from_bytes) {
      if (out + at == from) continue;
      copy_async(out + at, from, std::min(from_bytes, to_bytes - at), CopyDirection::within_device,
                 stream());
    }
  }
};

}  // namespace

DeviceWorld::DeviceWorld(World& host, Stream stream, Peers peers)
    : host_(host), stream_(stream), peers_(peers) {}
DeviceWorld::~DeviceWorld() = default;

std::unique_ptr<Communicator> DeviceWorld::make_group(const std::string& name,
                                                      const std::vector<int>& ranks) {
  std::unique_ptr<Communicator> host = host_.make_group(name, ranks);
  if (peers_ == Peers::own_copies || ranks.size() == 1) {
    return std::make_unique<LoneGroup>(std::move(host), stream_);
  }
  return std::make_unique<DeviceGroup>(std::move(host), stream_);
}

std::unique_ptr<Communicator> DeviceWorld::make_host_group() {
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return host_.make_group("host", ranks);
}

}  // namespace llmb::runner::cuda
