#include "server/push/machine_name.h"

#include <unistd.h>

#include <array>

namespace llmb::push {

std::string machine_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace llmb::push
