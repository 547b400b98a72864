#include "runner/cuda_collective_ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/device_world.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/parallel/rank_groups.h"
#include "runner/plan/collective_shapes.h"
#include "runner/train_loop.h"

namespace llmb::runner {
namespace {

constexpr std::int64_t kBytesMax = std::int64_t{1} << 30;
constexpr int kPieces = 3;

// One call of a group, on memory of its own.
class MeasuredCollective {
 public:
  MeasuredCollective(Communicator& group, CollectiveShape shape, cuda::Stream stream)
      : group_(group), shape_(shape), stream_(stream) {
    const auto width = static_cast<std::int64_t>(bytes_of(shape.type));
    const std::int64_t members = group.size();
    const std::int64_t count = std::min(shape.count, kBytesMax / width);
    shape_.count = std::max<std::int64_t>(1, count / members) * members;
    const auto bytes = static_cast<std::size_t>(shape_.count * width);
    whole_ = cuda::DeviceMemory(bytes);
    const bool is_exchange = shape.kind == CollectiveKind::all_to_all;
    part_ = cuda::DeviceMemory(is_exchange ? bytes : bytes / static_cast<std::size_t>(members));
    cuda::fill_async(whole_.data(), 0, whole_.bytes(), stream);
    cuda::fill_async(part_.data(), 0, part_.bytes(), stream);
  }

  std::int64_t bytes() const { return static_cast<std::int64_t>(whole_.bytes()); }

  void put() const {
    const auto count = static_cast<std::size_t>(shape_.count);
    const auto members = static_cast<std::size_t>(group_.size());
    const Buffer whole(whole_.data(), count, shape_.type);
    const Buffer part(part_.data(), count / members, shape_.type);
    if (shape_.kind == CollectiveKind::all_gather) {
      group_.all_gather(part.as_const(), whole, "ceilings.all_gather");
    } else if (shape_.kind == CollectiveKind::reduce_scatter) {
      group_.reduce_scatter(whole.as_const(), part, "ceilings.reduce_scatter");
    } else {
      const std::vector<std::size_t> each(members, count / members);
      group_.all_to_all(whole.as_const(), each, Buffer(part_.data(), count, shape_.type), each,
                        "ceilings.all_to_all");
    }
  }

  double seconds_of(std::int64_t repetitions) const {
    cuda::Event begin(cuda::Event::Timing::with);
    cuda::Event end(cuda::Event::Timing::with);
    begin.record(stream_);
    for (std::int64_t i = 0; i < repetitions; ++i) put();
    end.record(stream_);
    end.synchronize();
    return cuda::Event::seconds_between(begin, end);
  }

 private:
  Communicator& group_;
  CollectiveShape shape_;
  cuda::Stream stream_;
  cuda::DeviceMemory whole_, part_;
};

Communicator& group_of(const RankGroups& groups, GroupKind kind) {
  switch (kind) {
    case GroupKind::context:
      return *groups.context;
    case GroupKind::data_context:
      return *groups.data_context;
    case GroupKind::expert:
      return *groups.expert;
    case GroupKind::expert_tensor:
      return *groups.expert_tensor;
    case GroupKind::expert_data:
      return *groups.expert_data;
    default:
      return *groups.tensor;
  }
}

// How often, all agree on: whoever called less often would be waited for in vain.
Ceiling measured(const MeasuredCollective& call, Communicator& everybody, double seconds) {
  call.seconds_of(1);  // connects the members
  std::vector<double> slowest = {std::max(call.seconds_of(1), 1e-7)};
  everybody.all_reduce(slowest, ReduceOp::max, "ceilings.seconds");
  const auto a_piece =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds / kPieces / slowest.front()));
  Ceiling ceiling;
  std::vector<double> times;
  for (int piece = 0; piece < kPieces; ++piece) {
    times.push_back(call.seconds_of(a_piece) / static_cast<double>(a_piece));
    ceiling.repetitions += a_piece;
  }
  set_times(std::move(times), ceiling);
  ceiling.bytes = static_cast<double>(call.bytes());
  return ceiling;
}

}  // namespace

void measure_collectives(World& world, const RunSettings& settings, const Layout& layout,
                         double seconds, const CeilingSink& tell) {
  const cuda::OwnedStream stream;
  cuda::DeviceWorld devices(world, stream);
  const RankGroups groups = make_rank_groups(devices, layout);
  for (const CollectiveShape& shape :
       collective_shapes(settings, layout.place_of(world.rank()).pp)) {
    Communicator& group = group_of(groups, shape.group);
    const MeasuredCollective call(group, shape, stream);
    Ceiling ceiling = measured(call, groups.host(), seconds);
    ceiling.operation = cuda::collective_operation(group.name(), shape.kind);
    ceiling.name = fmt::format("{} of {:.3f} MiB, {} ranks", ceiling.operation,
                               static_cast<double>(call.bytes()) / (1 << 20), group.size());
    tell(ceiling);
  }
}

void print_collective_ceilings(World& world, int local_rank, const RunSettings& settings,
                               double seconds, std::ostream& out) {
  cuda::choose_device(local_rank);
  world.make_group_of_all("ceilings")->barrier("ceilings.begin");
  try {
    measure_collectives(world, settings, run_layout(settings), seconds,
                        [&](const Ceiling& ceiling) {
                          if (world.rank() == 0) out << ceiling_line(ceiling) << "\n" << std::flush;
                        });
  } catch (const cuda::CommunicatorFailed& error) {
    throw PeerFailure(error.what());
  }
}

}  // namespace llmb::runner
