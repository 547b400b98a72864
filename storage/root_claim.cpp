#include "storage/root_claim.h"

namespace llmb::storage {

bool is_inside(std::string_view path, std::string_view outer_path) {
  if (outer_path == "/") return path.size() > 1;
  return path.size() > outer_path.size() && path.starts_with(outer_path) &&
         path[outer_path.size()] == '/';
}

bool may_be_of_one_cluster(std::string_view a, std::string_view b) {
  return a.empty() || b.empty() || a == b;
}

}  // namespace llmb::storage
