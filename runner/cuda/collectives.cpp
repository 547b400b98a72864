#include "runner/cuda/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace llmb::runner::cuda {

DeviceCommunicator::DeviceCommunicator(std::string name, std::vector<int> ranks, int rank)
    : name_(std::move(name)), ranks_(std::move(ranks)) {
  const auto place = std::find(ranks_.begin(), ranks_.end(), rank);
  if (place == ranks_.end()) {
    throw std::invalid_argument(fmt::format("Rank {} makes the group {} [{}], in which it is not.",
                                            rank, name_, fmt::join(ranks_, ", ")));
  }
  rank_ = static_cast<int>(place - ranks_.begin());
}

void DeviceCommunicator::add_name(const std::string& name) {
  name_ += ", " + name;
}

CommunicatorId DeviceCommunicator::shared_id(const std::vector<int>& ranks, int rank,
                                             const ShareId& share_id) {
  if (ranks.empty() || ranks.front() != rank) return share_id(nullptr);
  const CommunicatorId mine = make_communicator_id();
  return share_id(&mine);
}

void DeviceCommunicator::check_member(int member) const {
  if (member >= 0 && member < size()) return;
  throw std::invalid_argument(
      fmt::format("Member {} of {}, which has {}.", member, describe_group(), size()));
}

void DeviceCommunicator::check_counts(std::span<const std::int64_t> sent,
                                      std::span<const std::int64_t> received) const {
  const auto members = static_cast<std::size_t>(size());
  const auto is_negative = [](std::int64_t count) { return count < 0; };
  if (sent.size() == members && received.size() == members &&
      std::none_of(sent.begin(), sent.end(), is_negative) &&
      std::none_of(received.begin(), received.end(), is_negative)) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("all_to_all of {} needs {} counts of both kinds, none of them negative; it has "
                  "[{}] and [{}].",
                  describe_group(), members, fmt::join(sent, ", "), fmt::join(received, ", ")));
}

std::string DeviceCommunicator::describe_group() const {
  return fmt::format("{} [{}]", name_, fmt::join(ranks_, ", "));
}

std::string DeviceCommunicator::describe(const char* call, std::uint64_t number) const {
  return fmt::format("{} {} of {}, rank {}", call, number, describe_group(),
                     ranks_[static_cast<std::size_t>(rank_)]);
}

CallGroup::~CallGroup() {
  try {
    end();
  } catch (...) {  // whoever wants to hear of it calls end()
  }
}

}  // namespace llmb::runner::cuda
