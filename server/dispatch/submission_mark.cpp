#include "server/dispatch/submission_mark.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "parser/foundation/hex.h"

namespace llmb::dispatch {

std::string new_submission_id() {
  std::random_device random;
  std::string id = "llmb-";
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t bits = random();
    for (std::uint32_t shift = 0; shift < 32; shift += 4)
      id += parser::kHexDigits[(bits >> shift) & 15U];
  }
  return id;
}

bool is_being_submitted(std::string_view submission_id) {
  namespace fs = std::filesystem;
  const std::string self = fmt::to_string(getpid());
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_process =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_process || name == self) continue;
    // Read anew for every process; one that has ended meanwhile has no arguments.
    std::ifstream file(entry->path() / "cmdline", std::ios::binary);
    const std::string arguments{std::istreambuf_iterator<char>(file), {}};
    if (arguments.find(submission_id) != std::string::npos) return true;
  }
  return false;
}

}  // namespace llmb::dispatch
