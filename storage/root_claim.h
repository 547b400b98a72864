// RootClaim: a watched tree whose runs one of several writers of a database wants to write, and
// what became of that. Of trees inside each other a log belongs to the innermost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmb::storage {

struct RootClaim {
  std::string path;     // canonical; empty: what belongs to no tree
  std::string cluster;  // empty: none is said
  // Of trees inside it that the same process watches: they are left out, claimed or not.
  std::vector<std::string> inner_paths = {};
};

enum class ClaimOutcome {
  taken,
  of_another,    // another process writes the tree's runs
  awaits_outer,  // no other can take it; who writes a tree around it still has to leave it out
};

// Who is in the way of a claim, or was last: of the tree itself, or of one around it.
struct TreeHolder {
  std::string path;
  std::string process;
};

bool is_inside(std::string_view path, std::string_view outer_path);

// Trees of one path, or inside each other, are different ones where both say clusters, and not the
// same.
bool may_be_of_one_cluster(std::string_view a, std::string_view b);

}  // namespace llmb::storage
