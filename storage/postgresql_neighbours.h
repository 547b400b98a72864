// Neighbours: the trees inside and around one that a writer of a PostgreSQL database claims, and
// who has claimed those. What is decided by them stands in writer_mark and left_out_tree.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/root_claim.h"

namespace llmb::storage {

struct NeighbourTree {
  std::string path;
  std::string holder;        // who claimed it last
  bool is_claimed = false;   // that process has it now
  bool leaves_ours = false;  // it is around ours, and its mark says that it leaves that out
};

class Neighbours {
 public:
  explicit Neighbours(const RootClaim& ours) : ours_(ours) {}

  // Asks the database. Those of another cluster are none. `inner_rest`: as Writer::claim_root().
  void look(Connection& connection, std::chrono::milliseconds inner_rest);

  // As it was at the last look: of our own mark; nothing: there is none.
  std::optional<std::int64_t> own_revision() const { return own_revision_; }
  // The same: what is to be left out, by path.
  const std::vector<std::string>& left_out() const { return left_out_; }
  // A tree around ours that is claimed, and that does not leave ours out yet; null: there is none.
  const NeighbourTree* awaited() const;
  const NeighbourTree* find(const std::string& path) const;

  // In the transaction of the last look: stores what is left out, and what follows for others.
  void settle(Connection& connection);

 private:
  void choose_left_out(std::chrono::milliseconds inner_rest);

  const RootClaim& ours_;
  std::vector<NeighbourTree> trees_;
  std::optional<std::int64_t> own_revision_;
  std::vector<std::string> left_out_;
  std::map<std::string, std::chrono::steady_clock::time_point> unclaimed_since_;
};

// Of the tree's mark, in whose place another stands from now on: its writer finds that it has lost
// the tree. With the name of who did it, where that is said.
void outdate_mark(Connection& connection, const std::string& path,
                  const std::optional<std::string>& holder);

}  // namespace llmb::storage
