// PushTurns: which requests of agents are at work just now. Few at once, for each takes some ten
// times its size while it is read. An agent sends its next request while the last one is written;
// where others push, too, each has one, so that none waits for room that others take again and
// again. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace llmb::api {

class PushTurns {
 public:
  // False: there is no room; else it is given back.
  bool take(const std::string& agent);
  void give_back(const std::string& agent);

 private:
  std::mutex mutex_;
  std::map<std::string, std::size_t> of_agents_;  // more than none
  std::size_t count_ = 0;
};

}  // namespace llmb::api
