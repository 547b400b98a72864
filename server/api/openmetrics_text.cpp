#include "server/api/openmetrics_text.h"

#include <array>
#include <charconv>

namespace llmb::api {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') result += '\\';
    if (letter == '\n') {
      result += "\\n";
    } else {
      result += letter;
    }
  }
  return result;
}

}  // namespace

std::string metric_number(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string text(digits.data(), error == std::errc() ? end : digits.data());
  if (text.find_first_of(".einEIN") == std::string::npos) text += ".0";
  return text;
}

void OpenMetricsText::begin_family(std::string_view name, std::string_view type,
                                   std::string_view unit, std::string_view help) {
  family_ = name;
  text_ += "# TYPE " + family_ + " " + std::string(type) + "\n";
  if (!unit.empty()) text_ += "# UNIT " + family_ + " " + std::string(unit) + "\n";
  text_ += "# HELP " + family_ + " " + escaped(help) + "\n";
}

void OpenMetricsText::line(std::string_view suffix, const Labels& labels, std::string_view value) {
  text_ += family_;
  text_ += suffix;
  if (!labels.empty()) {
    text_ += '{';
    bool is_first = true;
    for (const auto& [name, label] : labels) {
      if (!is_first) text_ += ',';
      is_first = false;
      text_ += std::string(name) + "=\"" + escaped(label) + "\"";
    }
    text_ += '}';
  }
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void OpenMetricsText::sample(std::string_view suffix, const Labels& labels, double value) {
  line(suffix, labels, metric_number(value));
}
void OpenMetricsText::sample(std::string_view suffix, const Labels& labels, std::uint64_t value) {
  line(suffix, labels, std::to_string(value));
}
void OpenMetricsText::sample(std::string_view suffix, const Labels& labels, std::int64_t value) {
  line(suffix, labels, std::to_string(value));
}

std::string OpenMetricsText::finish() && {
  text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace llmb::api
