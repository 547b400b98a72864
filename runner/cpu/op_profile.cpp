#include "runner/cpu/op_profile.h"

#include <utility>

namespace llmb::runner::cpu {
namespace {

struct ThreadProfile {
  bool is_taken = false;
  bool is_inside = false;  // an operation
  OpTable table;
};

ThreadProfile& profile() {
  thread_local ThreadProfile instance;
  return instance;
}

}  // namespace

void begin_op_profile() {
  profile().table.clear();
  profile().is_taken = true;
}

OpTable end_op_profile() {
  profile().is_taken = false;
  return std::exchange(profile().table, {});
}

OpTimer::OpTimer(std::string_view name)
    : name_(name), is_counted_(profile().is_taken && !profile().is_inside) {
  if (!is_counted_) return;
  profile().is_inside = true;
  begun_ = std::chrono::steady_clock::now();
}

OpTimer::~OpTimer() {
  if (!is_counted_) return;
  profile().is_inside = false;
  const auto found = profile().table.try_emplace(std::string(name_)).first;
  ++found->second.calls;
  found->second.time_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

}  // namespace llmb::runner::cpu
