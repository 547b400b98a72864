#include "server/cli/configuration_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "parser/foundation/parse_number.h"

namespace llmb::cli {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1024} * 1024;

}  // namespace

void ConfigurationReader::complain(const YAML::Mark& mark, const std::string& what) const {
  const std::string line = mark.is_null() ? "" : fmt::format(":{}", mark.line + 1);
  throw BadConfiguration(fmt::format("{}{}: {}", file_, line, what));
}

void ConfigurationReader::read_map(const YAML::Node& node, const std::string& where,
                                   const KeyHandlers& handlers) const {
  if (!node.IsMap()) complain(node.Mark(), where + " has to be a list of 'key: value' lines");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    const auto handler = std::find_if(handlers.begin(), handlers.end(),
                                      [&](const auto& pair) { return pair.first == key; });
    if (handler == handlers.end()) {
      std::string known;
      for (const auto& [name, unused] : handlers) {
        known.append(known.empty() ? "" : ", ").append(name);
      }
      std::string what = "unknown key '";
      what.append(key).append("' in ").append(where).append("; known: ").append(known);
      complain(entry.first.Mark(), what);
    }
    if (!seen.insert(key).second) {
      std::string what = "key '";
      what.append(key).append("' is there twice in ").append(where);
      complain(entry.first.Mark(), what);
    }
    handler->second(entry.second);
  }
}

std::string ConfigurationReader::text(const YAML::Node& node, const std::string& key) const {
  if (!node.IsScalar() || node.Scalar().empty()) {
    complain(node.Mark(), "'" + key + "' has to be a text");
  }
  return node.Scalar();
}

std::string ConfigurationReader::path(const YAML::Node& node, const std::string& key) const {
  const std::filesystem::path folder = std::filesystem::path(file_).parent_path();
  return (folder / text(node, key)).lexically_normal().string();
}

bool ConfigurationReader::boolean(const YAML::Node& node, const std::string& key) const {
  if (node.IsScalar() && node.Scalar() == "true") return true;
  if (node.IsScalar() && node.Scalar() == "false") return false;
  complain(node.Mark(), "'" + key + "' has to be true or false");
}

int ConfigurationReader::integer(const YAML::Node& node, const std::string& key, int min,
                                 int max) const {
  const auto value = parser::parse_integer(node.IsScalar() ? node.Scalar() : "", min, max);
  if (!value) {
    complain(node.Mark(),
             fmt::format("'{}' has to be a whole number from {} to {}", key, min, max));
  }
  return static_cast<int>(*value);
}

void ConfigurationReader::require_list(const YAML::Node& node, const std::string& key) const {
  if (!node.IsSequence() || node.size() == 0) {
    complain(node.Mark(), "'" + key + "' has to be a list of '- value' lines");
  }
}

std::vector<std::string> ConfigurationReader::texts(const YAML::Node& node,
                                                    const std::string& key) const {
  require_list(node, key);
  std::vector<std::string> result;
  result.reserve(node.size());
  for (const auto& entry : node) result.push_back(text(entry, key));
  return result;
}

std::map<std::string, std::string, std::less<>> ConfigurationReader::text_map(
    const YAML::Node& node, const std::string& key) const {
  if (!node.IsMap()) complain(node.Mark(), "'" + key + "' has to be a list of 'name: value' lines");
  std::map<std::string, std::string, std::less<>> result;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar() || !(entry.second.IsScalar() || entry.second.IsNull())) {
      complain(entry.first.Mark(), "'" + key + "' has to hold texts only");
    }
    result[entry.first.Scalar()] = entry.second.IsNull() ? "" : entry.second.Scalar();
  }
  return result;
}

std::string read_configuration_file(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  std::ifstream input(file, std::ios::binary);
  if (error || !input) {
    throw BadConfiguration("cannot read the configuration file " + file +
                           (error ? ": " + error.message() : "") + "; check the path");
  }
  if (bytes > kFileBytesMax) {
    throw BadConfiguration(file + " is larger than a configuration file may be (1 MiB)");
  }
  std::ostringstream text;
  text << input.rdbuf();
  return text.str();
}

}  // namespace llmb::cli
