// The table of dialects (parser/dialect.cpp) against what repeats it: three schemas and the
// dashboard. After a change of the table, write the repetitions anew with
//   LLMB_UPDATE_GOLDENS=1 parser_dialects_tests --gtest_filter='DialectTable.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "log_samples.h"
#include "parser/dialect.h"
#include "parser/dialects/dialect.h"
#include "parser/window.h"

namespace llmb::parser {
namespace {

// The part of `text` from behind `begin`, the first after `anchor`, to before `end`.
struct Part {
  std::size_t at = std::string::npos;
  std::size_t length = 0;
};
Part find_part(std::string_view text, std::string_view anchor, std::string_view begin,
               std::string_view end) {
  const std::size_t anchor_at = text.find(anchor);
  if (anchor_at == std::string_view::npos) return {};
  const std::size_t begin_at = text.find(begin, anchor_at);
  if (begin_at == std::string_view::npos) return {};
  const std::size_t at = begin_at + begin.size();
  return {at, text.find(end, at) - at};
}

void expect_part(const std::string& file, std::string_view anchor, std::string_view begin,
                 std::string_view end, const std::string& wanted) {
  const std::filesystem::path path = std::filesystem::path(LLMB_SOURCE_DIR) / file;
  std::string text = read_file(path);
  const Part part = find_part(text, anchor, begin, end);
  ASSERT_NE(part.at, std::string::npos) << file << " has no list of dialects";
  if (text.substr(part.at, part.length) == wanted) return;
  if (std::getenv("LLMB_UPDATE_GOLDENS") == nullptr) {
    EXPECT_EQ(text.substr(part.at, part.length), wanted) << file;
    return;
  }
  text.replace(part.at, part.length, wanted);
  std::ofstream(path, std::ios::binary) << text;
}

std::string quoted_names(std::string_view separator, bool with_unread) {
  std::string names;
  for (const DialectTraits& traits : dialects()) {
    if (!is_read(traits.dialect) && !with_unread) continue;
    if (!names.empty()) names += separator;
    names.append("\"").append(traits.name).append("\"");
  }
  return names;
}

TEST(DialectTable, StandsInTheSchemas) {
  const std::string line = quoted_names(", ", true);
  expect_part("server/api/openapi.json", "\"dialect\": {\"type\": \"string\", \"enum\": [", "[",
              "]", line);
  expect_part("server/report/parse_output.schema.json", "\"dialect\": {", "\"enum\": [", "]", line);
  expect_part("parser/catalog/recipes.schema.json", "\"dialect\": {", "\"enum\": [", "]",
              "\n            " + quoted_names(",\n            ", false) + "\n          ");
}

TEST(DialectTable, StandsInTheDashboard) {
  std::string titles = "\n";
  for (const DialectTraits& traits : dialects()) {
    titles.append("  ").append(traits.name).append(": \"").append(traits.title).append("\",\n");
  }
  expect_part("web/src/format.ts", "const kDialects", "{", "}", titles);
  std::string unread;
  for (const DialectTraits& traits : dialects()) {
    if (traits.why_not_read.empty()) continue;
    if (!unread.empty()) unread += ", ";
    unread.append("\"").append(traits.name).append("\"");
  }
  expect_part("web/src/format.ts", "const kDialectsNotRead", "= [", "]", unread);
}

TEST(DialectTable, HasNamesThatComeBack) {
  for (const DialectTraits& traits : dialects()) {
    EXPECT_EQ(dialect_from_name(traits.name), traits.dialect);
    EXPECT_EQ(dialect_name(traits.dialect), traits.name);
    EXPECT_FALSE(traits.title.empty());
    EXPECT_FALSE(traits.numbering.empty());
    EXPECT_LE(traits.window_first, traits.window_last);
  }
  EXPECT_EQ(dialect_from_name("of another version"), std::nullopt);
  EXPECT_EQ(dialect_names().find("unknown"), std::string::npos);
  EXPECT_TRUE(dialect_names().starts_with("nemo, "));
}

TEST(DialectTable, HasARowForWhatEveryReaderReads) {
  for (const auto& reader : make_dialect_readers()) {
    EXPECT_NE(reader->dialect(), Dialect::unknown);
    EXPECT_EQ(dialect_from_name(dialect_name(reader->dialect())), reader->dialect());
  }
}

}  // namespace
}  // namespace llmb::parser
