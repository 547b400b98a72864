// ToldRoot: one root of the logs that a request tells. Whether anything is stored of a log is asked
// of many at once, for most of what agents send first is new; only of the others the rows are read.
// Inside a transaction of the caller's.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "storage/push_rows.h"

namespace llmb::storage {

class ToldRoot {
 public:
  // Stores the root where it is not. `relative_paths`: of all logs that follow.
  ToldRoot(Connection& connection, const std::string& cluster, const std::string& path,
           std::span<const std::string> relative_paths);

  RootId id() const { return id_; }
  // As decide_on() of push_rows.h. What is taken has to be written before the next one is asked.
  PushDecision decide_on(const PushSender& sender, const LogTelling& log);

 private:
  Connection& connection_;
  RootId id_;
  std::set<std::string> known_;  // what is, or may be by now, of a log that something is stored of
};

// By their paths.
using ToldRoots = std::map<std::string, ToldRoot, std::less<>>;
ToldRoots told_roots(Connection& connection, const std::string& cluster,
                     std::span<const LogTelling> logs);

}  // namespace llmb::storage
