#include "server/report/filter_values.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "parser/foundation/text.h"

namespace llmb::report {
namespace {

constexpr const char* kNone = "none";

// Compared as text, where "…33.5Z" stands before "…33Z"; both stand after "…33".
std::string second_to_compare(std::chrono::sys_seconds second) {
  std::string text = parser::instant_text_s(second);
  text.pop_back();
  return text;
}

}  // namespace

std::vector<std::string> spellings_asked(const std::vector<std::string>& names) {
  std::set<std::string> spellings;
  for (const std::string& name : names) {
    std::string upper = name;
    for (char& c : upper) c = parser::is_letter(c) ? static_cast<char>(c & ~0x20) : c;
    spellings.insert({name, parser::lower(name), std::move(upper)});
  }
  return {spellings.begin(), spellings.end()};
}

std::vector<std::string> clusters_asked(std::vector<std::string> names) {
  if (std::find(names.begin(), names.end(), kNone) != names.end()) names.emplace_back();
  return names;
}

std::vector<std::string> causes_asked(std::vector<std::string> causes) {
  std::replace(causes.begin(), causes.end(), std::string(kNone), std::string());
  return causes;
}

std::string since_asked(parser::Instant since) {
  return second_to_compare(std::chrono::floor<std::chrono::seconds>(since));
}

std::string before_asked(parser::Instant before) {
  return second_to_compare(std::chrono::ceil<std::chrono::seconds>(before));
}

}  // namespace llmb::report
