#include "parser/layout/run_configuration.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "parser/foundation/name_table.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr auto kSourceNames = name_table<ConfigSource>({
    {ConfigSource::path, "path"},
    {ConfigSource::llmb_config, "llmb_config"},
    {ConfigSource::experiment_name, "experiment_name"},
    {ConfigSource::log_content, "log_content"},
});

// fp8_cs refines fp8.
bool refines(std::string_view fine, std::string_view coarse) {
  return fine.size() > coarse.size() && fine[coarse.size()] == '_' &&
         equal_but_for_case(fine.substr(0, coarse.size()), coarse);
}

bool agree(std::string_view key, std::string_view left, std::string_view right) {
  if (equal_but_for_case(left, right)) return true;
  return key == "dtype" && (refines(left, right) || refines(right, left));
}

// The catalog has these in lower case, and no two of them differ by case alone.
bool is_case_free(std::string_view key) {
  return key == "gpu_type" || key == "dtype" || key == "model_size";
}

void order_best_first(std::string_view key, std::vector<ConfigValue>& values) {
  std::sort(values.begin(), values.end(),
            [](const ConfigValue& a, const ConfigValue& b) { return a.source < b.source; });
  if (key != "dtype" || values.empty()) return;
  const auto fine = std::find_if(values.begin(), values.end(), [&](const ConfigValue& value) {
    return value.source == ConfigSource::experiment_name &&
           refines(value.value, values.front().value);
  });
  if (fine != values.end()) std::rotate(values.begin(), fine, fine + 1);
}

}  // namespace

std::string_view config_source_name(ConfigSource source) {
  return kSourceNames.name(source);
}

std::string_view told_source_name(std::string_view key, ConfigSource source) {
  if (key == "gpu_type" && source == ConfigSource::path) return "--gpu-type";
  return config_source_name(source);
}

std::optional<ConfigSource> config_source_from_name(std::string_view text) {
  return kSourceNames.value(text);
}

void RunConfiguration::set(std::string key, std::string value, ConfigSource source) {
  if (value.empty()) return;
  if (is_case_free(key)) value = lower(value);
  const auto entry = values_.try_emplace(std::move(key)).first;
  std::vector<ConfigValue>& values = entry->second;
  std::erase_if(values, [&](const ConfigValue& there) { return there.source == source; });
  values.push_back({std::move(value), source});
  order_best_first(entry->first, values);
}

void RunConfiguration::fill_in(const std::string& key, const std::string& value,
                               ConfigSource source) {
  if (!get(key)) set(key, value, source);
}

std::optional<ConfigValue> RunConfiguration::get(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end() || entry->second.empty()) return std::nullopt;
  return entry->second.front();
}

std::optional<std::string> RunConfiguration::value(std::string_view key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end() || entry->second.empty()) return std::nullopt;
  return entry->second.front().value;
}

std::vector<std::string> RunConfiguration::conflicting_keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, values] : values_) {
    const std::string& name = key;
    const std::string& best = values.front().value;
    if (!std::all_of(values.begin(), values.end(),
                     [&](const ConfigValue& other) { return agree(name, best, other.value); })) {
      keys.push_back(key);
    }
  }
  return keys;
}

RunConfiguration RunConfiguration::from(ConfigSource source) const {
  RunConfiguration own;
  for (const auto& [key, values] : values_) {
    for (const ConfigValue& value : values) {
      if (value.source == source) own.set(key, value.value, source);
    }
  }
  return own;
}

void RunConfiguration::merge(const RunConfiguration& other) {
  for (const auto& [key, values] : other.values_) {
    for (const ConfigValue& value : values) set(key, value.value, value.source);
  }
}

}  // namespace llmb::parser
