#include "parser/catalog/model_overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "parser/layout/llmb_config.h"

namespace llmb::parser {
namespace {

constexpr std::array<std::string_view, 6> kOfNoRow = {"steps", "max_steps", "train_iters",
                                                      "seed",  "dp",        "data_parallel_size"};

}  // namespace

std::string overrides_of_no_figure(const RunConfiguration& configuration) {
  std::string text;
  const auto& all = configuration.all();
  for (auto entry = all.lower_bound(kModelOverrides);
       entry != all.end() && entry->first.starts_with(kModelOverrides); ++entry) {
    const std::string name = name_of_override(entry->first);
    if (std::find(kOfNoRow.begin(), kOfNoRow.end(), name) != kOfNoRow.end()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, entry->second.front().value);
  }
  return text;
}

}  // namespace llmb::parser
