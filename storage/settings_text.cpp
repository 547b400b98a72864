#include "storage/settings_text.h"

#include <cstddef>
#include <map>
#include <optional>

namespace llmb::storage {
namespace {

using parser::ConfigSource;
using parser::RunConfiguration;

enum class Part { key, value };

void append_escaped(std::string_view bytes, Part part, std::string& text) {
  for (const char c : bytes) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '=' && part == Part::key) {
      text += "\\e";
    } else {
      text += c;
    }
  }
}

std::string without_escapes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      bytes += text[at];
      continue;
    }
    const char escaped = text[++at];
    bytes += escaped == 'n' ? '\n' : escaped == 'e' ? '=' : escaped;
  }
  return bytes;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string settings_text(const RunConfiguration& configuration) {
  std::map<ConfigSource, std::string> sections;
  for (const auto& [key, values] : configuration.all()) {
    for (const parser::ConfigValue& value : values) {
      std::string& lines = sections[value.source];
      append_escaped(key, Part::key, lines);
      lines += '=';
      append_escaped(value.value, Part::value, lines);
      lines += '\n';
    }
  }
  std::string text;
  for (const auto& [source, lines] : sections) {
    text.append("[").append(parser::config_source_name(source)).append("]\n").append(lines);
  }
  return text;
}

RunConfiguration read_settings_text(std::string_view text) {
  RunConfiguration configuration;
  std::optional<ConfigSource> source;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      if (!source) continue;
      configuration.set(without_escapes(line.substr(0, equals)),
                        without_escapes(line.substr(equals + 1)), *source);
    } else if (line.starts_with('[') && line.ends_with(']')) {
      source = parser::config_source_from_name(line.substr(1, line.size() - 2));
    }
  }
  return configuration;
}

}  // namespace llmb::storage
