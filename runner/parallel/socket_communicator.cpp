#include "runner/parallel/socket_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runner/parallel/reduction.h"
#include "runner/parallel/rendezvous_key.h"
#include "runner/parallel/socket_mesh.h"

namespace llmb::runner {
namespace {

// Up to this size every member reduces everything itself.
constexpr std::size_t kReducedByAllBytesMax = 16384;

// Goes with each message, so that the ranks themselves, of which there may be thousands, do not.
std::string channel_prefix(const std::string& name, const std::vector<int>& ranks) {
  return fmt::format("{}:{:x}/", name, RendezvousKey().sign(std::as_bytes(std::span(ranks))));
}

class SocketCommunicator final : public Communicator {
 public:
  SocketCommunicator(std::shared_ptr<SocketMesh> mesh, const std::string& name,
                     const std::vector<int>& group_ranks, int member)
      : Communicator(name, group_ranks, member),
        mesh_(std::move(mesh)),
        prefix_(channel_prefix(name, group_ranks)) {}

 private:
  using Bytes = std::span<const std::byte>;

  static Bytes bytes_of_part(const ConstBuffer& buffer, std::size_t first, std::size_t count) {
    const std::size_t width = bytes_of(buffer.type);
    return {static_cast<const std::byte*>(buffer.data) + first * width, count * width};
  }
  static void copy(Bytes from, void* to) {
    if (!from.empty() && to != from.data()) std::memcpy(to, from.data(), from.size());
  }
  static CallSignature signature(CollectiveKind kind, const ConstBuffer& sent, int root,
                                 const CallTag& tag) {
    return {kind, sent.type, sent.count, root, std::string(tag.name), tag.str()};
  }
  int rank_of(int member) const { return ranks()[static_cast<std::size_t>(member)]; }

  void give(int member, const CallSignature& call, Bytes payload) {
    mesh_->send(rank_of(member), prefix_, call, payload);
  }

  // What `member` sent for this very call. Fails all ranks where it made another one.
  MeshMessage take(int member, const CallSignature& call, std::size_t bytes, int patiences = 1) {
    MeshMessage message = mesh_->receive(rank_of(member), prefix_, call, patiences);
    std::string wrong = disagreement(call, global_rank(), message.signature, rank_of(member));
    if (wrong.empty() && message.payload().size() != bytes) {
      const std::size_t width = bytes_of(call.type);
      wrong = fmt::format(
          "ranks disagree in all_to_all: rank {} sends {} elements at {}; rank {} expects {} at {}",
          rank_of(member), message.payload().size() / width, message.signature.site, global_rank(),
          bytes / width, call.site);
    }
    if (wrong.empty()) return message;
    wrong = "group " + name() + ": " + wrong;
    mesh_->fail_everywhere(wrong);
    throw CommunicationError(wrong);
  }

  // Every other member, beginning with the next one, so that not all turn to the same.
  template <typename Visit>
  void for_others(const Visit& visit) {
    for (int i = 1; i < size(); ++i) visit((rank() + i) % size());
  }

  // Everybody's elements [first, first + count), in the order of the members; `own` are mine.
  // `received` keeps what the pointers point into.
  std::vector<const void*> gather_sources(const CallSignature& call, Bytes own,
                                          std::vector<MeshMessage>& received) {
    received.resize(static_cast<std::size_t>(size()));
    std::vector<const void*> sources(received.size());
    for (int member = 0; member < size(); ++member) {
      const auto at = static_cast<std::size_t>(member);
      if (member == rank()) {
        sources[at] = own.data();
        continue;
      }
      received[at] = take(member, call, own.size());
      // A message's payload begins anywhere; elements must be aligned.
      auto& body = received[at].body;
      body.erase(body.begin(),
                 body.begin() + static_cast<std::ptrdiff_t>(received[at].payload_offset));
      received[at].payload_offset = 0;
      sources[at] = body.data();
    }
    return sources;
  }

  // What every member gives, in the order of the members. In each round a member passes on what it
  // has to one before it and has that of twice as many then, from itself on around the ring: as few
  // messages as a binary logarithm. Nobody is through before all have come. Neighbours meet in the
  // first round, so that no disagreement goes unseen; and who has not come is missed there, while
  // later rounds wait longer for those who may be waiting themselves.
  std::vector<std::byte> gather_around(const CallSignature& call, Bytes own) {
    const std::size_t width = own.size();
    std::vector<std::byte> around(static_cast<std::size_t>(size()) * width);
    copy(own, around.data());
    for (int have = 1; have < size(); have *= 2) {
      const std::size_t more = static_cast<std::size_t>(std::min(have, size() - have)) * width;
      give((rank() + size() - have) % size(), call, Bytes(around).first(more));
      const MeshMessage message = take((rank() + have) % size(), call, more, have == 1 ? 1 : 2);
      copy(message.payload(), around.data() + static_cast<std::size_t>(have) * width);
    }
    const auto first_member = static_cast<std::size_t>(size() - rank()) * width;
    std::rotate(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(first_member),
                around.end());
    return around;
  }

  void reduce_by_all(const CallSignature& call, Buffer data, ReduceOp op) {
    const Bytes own = bytes_of_part(data.as_const(), 0, data.count);
    const std::vector<std::byte> all = gather_around(call, own);
    std::vector<const void*> sources;
    sources.reserve(static_cast<std::size_t>(size()));
    for (int member = 0; member < size(); ++member) {
      sources.push_back(all.data() + static_cast<std::size_t>(member) * own.size());
    }
    reduce_in_order(op, data.type, sources, 0, data.count, data.data);
  }

  void do_all_reduce(Buffer data, ReduceOp op, const CallTag& tag) override {
    const auto kind =
        op == ReduceOp::sum ? CollectiveKind::all_reduce_sum : CollectiveKind::all_reduce_max;
    const ConstBuffer mine = data.as_const();
    const CallSignature call = signature(kind, mine, -1, tag);
    if (data.bytes() <= kReducedByAllBytesMax) return reduce_by_all(call, data, op);
    const auto slice = [&](int member) { return slice_of(data.count, size(), member); };
    for_others([&](int member) {
      give(member, call, bytes_of_part(mine, slice(member).first, slice(member).count));
    });
    std::vector<MeshMessage> received;
    const Slice own = slice(rank());
    const Bytes own_bytes = bytes_of_part(mine, own.first, own.count);
    const std::vector<const void*> sources = gather_sources(call, own_bytes, received);
    std::vector<std::byte> reduced(own_bytes.size());
    reduce_in_order(op, data.type, sources, 0, own.count, reduced.data());
    auto* target = static_cast<std::byte*>(data.data);
    const std::size_t width = bytes_of(data.type);
    for_others([&](int member) { give(member, call, reduced); });
    for_others([&](int member) {
      const Slice part = slice(member);
      copy(take(member, call, part.count * width).payload(), target + part.first * width);
    });
    copy(reduced, target + own.first * width);
  }

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& tag) override {
    const CallSignature call = signature(CollectiveKind::all_gather, mine, -1, tag);
    const Bytes own = bytes_of_part(mine, 0, mine.count);
    auto* target = static_cast<std::byte*>(all.data);
    for_others([&](int member) { give(member, call, own); });
    copy(own, target + static_cast<std::size_t>(rank()) * own.size());
    for_others([&](int member) {
      copy(take(member, call, own.size()).payload(),
           target + static_cast<std::size_t>(member) * own.size());
    });
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& tag) override {
    const CallSignature call = signature(CollectiveKind::reduce_scatter, all, -1, tag);
    const auto part = [&](int member) {
      return bytes_of_part(all, static_cast<std::size_t>(member) * mine.count, mine.count);
    };
    for_others([&](int member) { give(member, call, part(member)); });
    std::vector<MeshMessage> received;
    const std::vector<const void*> sources = gather_sources(call, part(rank()), received);
    reduce_in_order(ReduceOp::sum, all.type, sources, 0, mine.count, mine.data);
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts, const CallTag& tag) override {
    const CallSignature call = signature(CollectiveKind::all_to_all, sent, -1, tag);
    const auto before = [](std::span<const std::size_t> counts, int member) {
      return std::accumulate(counts.begin(), counts.begin() + member, std::size_t{0});
    };
    const auto block = [&](int member) {
      return bytes_of_part(sent, before(sent_counts, member),
                           sent_counts[static_cast<std::size_t>(member)]);
    };
    const std::size_t width = bytes_of(sent.type);
    auto* target = static_cast<std::byte*>(received.data);
    // Its own block goes through the mesh too, which compares the counts.
    for (int i = 0; i < size(); ++i) {
      const int member = (rank() + i) % size();
      give(member, call, block(member));
    }
    for (int member = 0; member < size(); ++member) {
      const std::size_t count = received_counts[static_cast<std::size_t>(member)];
      copy(take(member, call, count * width).payload(),
           target + before(received_counts, member) * width);
    }
  }

  void do_broadcast(Buffer data, int root, const CallTag& tag) override {
    const CallSignature call = signature(CollectiveKind::broadcast, data.as_const(), root, tag);
    if (rank() != root) return copy(take(root, call, data.bytes()).payload(), data.data);
    for_others(
        [&](int member) { give(member, call, bytes_of_part(data.as_const(), 0, data.count)); });
  }

  void do_barrier(const CallTag& tag) override {
    const CallSignature call =
        signature(CollectiveKind::barrier, {nullptr, 0, ElementType::byte}, -1, tag);
    gather_around(call, {});
  }

  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    mesh_->send(rank_of(to), prefix_ + std::string(tag.name),
                signature(CollectiveKind::send, data, -1, tag), bytes_of_part(data, 0, data.count));
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    const CallSignature call = signature(CollectiveKind::recv, data.as_const(), -1, tag);
    const MeshMessage message =
        mesh_->receive(rank_of(from), prefix_ + std::string(tag.name), call);
    if (message.signature.type != data.type || message.signature.count != data.count) {
      const std::string wrong =
          fmt::format("group {}: ranks disagree: rank {} calls {}; rank {} calls {}", name(),
                      rank_of(from), message.signature.str(), global_rank(), call.str());
      mesh_->fail_everywhere(wrong);
      throw CommunicationError(wrong);
    }
    copy(message.payload(), data.data);
  }

  std::shared_ptr<SocketMesh> mesh_;
  std::string prefix_;
};

class SocketWorld final : public World {
 public:
  explicit SocketWorld(std::shared_ptr<SocketMesh> mesh) : mesh_(std::move(mesh)) {}

  int rank() const override { return mesh_->rank(); }
  int size() const override { return mesh_->size(); }

  std::unique_ptr<Communicator> make_group(const std::string& name,
                                           const std::vector<int>& ranks) override {
    const auto self = std::find(ranks.begin(), ranks.end(), rank());
    if (self == ranks.end()) {
      throw std::invalid_argument(
          fmt::format("rank {} is no member of its group {}", rank(), name));
    }
    return std::make_unique<SocketCommunicator>(mesh_, name, ranks,
                                                static_cast<int>(self - ranks.begin()));
  }

  std::function<std::string()> failure_source() const override {
    return [weak = std::weak_ptr(mesh_)] {
      const auto mesh = weak.lock();
      return mesh ? mesh->failure() : "";
    };
  }

  void abort(const std::string& reason) override {
    mesh_->fail_everywhere(fmt::format("rank {} failed: {}", rank(), reason));
  }

 private:
  std::shared_ptr<SocketMesh> mesh_;
};

}  // namespace

std::unique_ptr<World> make_socket_world(const ProcessPlace& place,
                                         const RendezvousOptions& options) {
  return std::make_unique<SocketWorld>(std::make_shared<SocketMesh>(
      place.rank, connect_ranks(place, options), options.call_patience));
}

}  // namespace llmb::runner
