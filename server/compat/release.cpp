#include "server/compat/release.h"

#include <array>

namespace llmb::compat {
namespace {

Release nemo(std::string_view name, std::int64_t window_first) {
  Release release;
  release.family = Family::nemo;
  release.name = name;
  release.window_first = window_first;
  release.window_last = 44;
  release.step_needs_tflops = name == "25.05";
  release.skips_other_tasks = name != "25.05";
  return release;
}

Release mbridge(std::string_view name, bool reads_tflop, bool reads_model_tflop) {
  Release release;
  release.family = Family::mbridge;
  release.name = name;
  release.window_first = 35;
  release.window_last = 44;
  release.only_log_files = name != "25.10";
  release.reads_tflop = reads_tflop;
  release.reads_model_tflop = reads_model_tflop;
  release.rejects_nan_gradient = name == "26.05";
  return release;
}

struct Entry {
  std::string_view text;
  Release release;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {"nemo@25.05", nemo("25.05", 11)},
      {"nemo@25.07", nemo("25.07", 11)},
      {"nemo@25.08", nemo("25.10", 35)},
      {"nemo@25.10", nemo("25.10", 35)},
      {"nemo@25.12", nemo("25.12", 35)},
      {"nemo@26.02", nemo("25.12", 35)},
      {"nemo@26.05", nemo("25.12", 35)},
      {"mbridge@25.10", mbridge("25.10", true, false)},
      {"mbridge@25.12", mbridge("25.12", false, true)},
      {"mbridge@26.02", mbridge("26.02", true, true)},
      {"mbridge@26.05", mbridge("26.05", true, true)},
  };
  return table;
}

}  // namespace

parser::Result<Release> find_release(std::string_view text) {
  // The releases that the recipe documents with these scripts' output describe.
  if (text == "nemo") text = "nemo@25.07";
  if (text == "mbridge") text = "mbridge@25.10";
  for (const Entry& entry : entries()) {
    if (entry.text == text) return entry.release;
  }
  std::string message =
      "unknown shell parser '" + std::string(text) + "'; there are: nemo, mbridge";
  for (const Entry& entry : entries()) message += ", " + std::string(entry.text);
  return parser::fail(message);
}

std::vector<std::string> release_names() {
  std::vector<std::string> names = {"nemo", "mbridge"};
  for (const Entry& entry : entries()) names.emplace_back(entry.text);
  return names;
}

}  // namespace llmb::compat
