// ConfigurationReader: takes values out of one YAML file; every complaint names the file, the line
// and the key, and what is allowed there.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmb::cli {

class BadConfiguration : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using KeyHandlers =
    std::vector<std::pair<std::string_view, std::function<void(const YAML::Node&)>>>;

// All of it throws BadConfiguration.
class ConfigurationReader {
 public:
  explicit ConfigurationReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void complain(const YAML::Mark& mark, const std::string& what) const;

  // Unknown keys, and keys that are there twice, are refused.
  void read_map(const YAML::Node& node, const std::string& where,
                const KeyHandlers& handlers) const;

  std::string text(const YAML::Node& node, const std::string& key) const;
  // Relative ones are meant from the file's folder.
  std::string path(const YAML::Node& node, const std::string& key) const;
  bool boolean(const YAML::Node& node, const std::string& key) const;
  int integer(const YAML::Node& node, const std::string& key, int min, int max) const;
  std::vector<std::string> texts(const YAML::Node& node, const std::string& key) const;
  // Of texts, which may be empty.
  std::map<std::string, std::string, std::less<>> text_map(const YAML::Node& node,
                                                           const std::string& key) const;
  void require_list(const YAML::Node& node, const std::string& key) const;

 private:
  const std::string file_;
};

// The file's text; at most 1 MiB. Throws BadConfiguration.
std::string read_configuration_file(const std::string& file);

}  // namespace llmb::cli
