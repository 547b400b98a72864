#include "tests/tidy/include_graph.h"

#include <algorithm>
#include <optional>
#include <regex>

namespace llmb::tidy {
namespace {

std::optional<std::string> included_file(const std::string& line) {
  static const std::regex include("\\s*#\\s*include\\s*\"([^\"]+)\".*");
  std::smatch match;
  if (!std::regex_match(line, match, include)) return std::nullopt;
  return match[1].str();
}

// Tarjan's algorithm: one walk in depth, in which each node knows the earliest node it reaches.
class CircleSearch {
 public:
  explicit CircleSearch(const IncludeGraph& graph) : graph_(graph) {
    for (const auto& [node, included] : graph) {
      if (!index_.contains(node)) visit(node);
    }
  }

  std::vector<std::vector<std::string>> circles;

 private:
  void visit(const std::string& node) {
    index_[node] = earliest_[node] = index_.size();
    open_.push_back(node);
    const auto edges = graph_.find(node);
    for (const std::string& next :
         edges == graph_.end() ? std::set<std::string>{} : edges->second) {
      if (!index_.contains(next)) visit(next);
      if (std::find(open_.begin(), open_.end(), next) != open_.end()) {
        earliest_[node] = std::min(earliest_[node], earliest_[next]);
      }
    }
    if (earliest_[node] == index_[node]) close(node);
  }

  void close(const std::string& first) {
    const auto begin = std::find(open_.begin(), open_.end(), first);
    std::vector<std::string> members(begin, open_.end());
    open_.erase(begin, open_.end());
    if (members.size() < 2) return;
    std::sort(members.begin(), members.end());
    circles.push_back(std::move(members));
  }

  const IncludeGraph& graph_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::size_t> earliest_;
  std::vector<std::string> open_;
};

}  // namespace

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/'));
}

std::string room_of(const std::string& path) {
  return path.substr(0, path.find_last_of('.'));
}

IncludeGraph include_graph(const std::vector<SourceFile>& files,
                           std::string (*node_of)(const std::string&)) {
  std::set<std::string> known;
  for (const SourceFile& file : files) known.insert(file.path);
  IncludeGraph graph;
  for (const SourceFile& file : files) {
    const std::string node = node_of(file.path);
    graph[node];
    for (const std::string& line : file.lines) {
      const auto included = included_file(line);
      if (!included || !known.contains(*included)) continue;
      if (node_of(*included) != node) graph[node].insert(node_of(*included));
    }
  }
  return graph;
}

std::vector<std::vector<std::string>> circles(const IncludeGraph& graph) {
  return CircleSearch(graph).circles;
}

}  // namespace llmb::tidy
