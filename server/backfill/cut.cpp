#include "server/backfill/cut.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "parser/layout/run_path.h"

namespace llmb::backfill {
namespace {

constexpr std::uint64_t kPartsAShare = 16;

std::vector<std::string_view> folders_of(std::string_view path) {
  std::vector<std::string_view> folders;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/')) {
    folders.push_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  return folders;
}

// How many of the folders lead to the launch, itself included; 0 where none is one.
std::size_t depth_of_launch(const std::vector<std::string_view>& folders,
                            const std::string& launch_id) {
  for (std::size_t depth = folders.size(); depth > 0; --depth) {
    const std::string name(folders[depth - 1]);
    if (name == launch_id) return depth;
    // <name>/<timestamp>
    if (depth > 1 && std::string(folders[depth - 2]) + '_' + name == launch_id) return depth;
  }
  return 0;
}

// The parts of a folder and of all below it, where one may have `grain` bytes. Folders wait on a
// list, not on the stack: a tree may be deep.
void collect(const MeasuredFolder& top, std::int64_t root, std::uint64_t grain,
             std::vector<Part>& parts) {
  std::vector<std::pair<const MeasuredFolder*, std::string>> waiting = {{&top, ""}};
  while (!waiting.empty()) {
    const auto [folder, path] = std::move(waiting.back());
    waiting.pop_back();
    if (folder->all.logs == 0) continue;
    if (folder->is_launch || folder->below.empty() || folder->all.bytes <= grain) {
      parts.push_back({root, path, true, folder->all});
      continue;
    }
    if (folder->own.logs > 0) parts.push_back({root, path, false, folder->own});
    for (const auto& [name, next] : folder->below) {
      std::string below = path;
      if (!below.empty()) below += '/';
      waiting.emplace_back(&next, below += name);
    }
  }
}

}  // namespace

void MeasuredFolder::add_log(std::string_view relative_path, std::uint64_t size_bytes) {
  const Measure log{size_bytes, 1};
  const auto folders = folders_of(relative_path);
  const auto launch_id = parser::parse_run_path(relative_path).launch_id;
  const std::size_t launch_depth = launch_id ? depth_of_launch(folders, *launch_id) : 0;
  MeasuredFolder* folder = this;
  folder->all.add(log);
  for (std::size_t depth = 1; depth <= folders.size(); ++depth) {
    folder = &folder->below[std::string(folders[depth - 1])];
    folder->all.add(log);
    if (depth == launch_depth) folder->is_launch = true;
  }
  folder->own.add(log);
}

std::vector<Share> cut(const std::vector<MeasuredFolder>& roots, std::int64_t share_count) {
  std::uint64_t bytes = 0;
  for (const MeasuredFolder& root : roots) bytes += root.all.bytes;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(1, share_count));
  const std::uint64_t grain = wanted == 1 ? bytes : bytes / (wanted * kPartsAShare);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    collect(roots[i], static_cast<std::int64_t>(i), grain, parts);
  }
  // The largest first, into what is filled least; what is equal by its name.
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(b.measure.bytes, b.measure.logs, a.root, a.folder, a.is_whole) <
           std::tie(a.measure.bytes, a.measure.logs, b.root, b.folder, b.is_whole);
  });
  std::vector<Share> shares(std::min(wanted, parts.size()));
  using Filled = std::tuple<std::uint64_t, std::int64_t, std::size_t>;  // bytes, logs, which
  std::priority_queue<Filled, std::vector<Filled>, std::greater<>> least;
  for (std::size_t i = 0; i < shares.size(); ++i) least.emplace(0, 0, i);
  for (Part& part : parts) {
    const std::size_t which = std::get<2>(least.top());
    least.pop();
    Share& share = shares[which];
    share.measure.add(part.measure);
    share.parts.push_back(std::move(part));
    least.emplace(share.measure.bytes, share.measure.logs, which);
  }
  for (Share& share : shares) {
    std::sort(share.parts.begin(), share.parts.end(), [](const Part& a, const Part& b) {
      return std::tie(a.root, a.folder, a.is_whole) < std::tie(b.root, b.folder, b.is_whole);
    });
  }
  return shares;
}

}  // namespace llmb::backfill
