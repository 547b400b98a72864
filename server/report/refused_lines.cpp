#include "server/report/refused_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <ostream>

#include "parser/foundation/safe_text.h"
#include "server/report/skipped_logs.h"

namespace llmb::report {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{256} << 10U;

// Offset -> the number of the line that it stands in; those behind the end of the file are left
// out.
std::map<std::uint64_t, std::int64_t> line_numbers(const std::vector<std::uint64_t>& offsets,
                                                   int file) {
  std::map<std::uint64_t, std::int64_t> numbers;
  std::vector<char> buffer(kBytesAtOnce);
  std::uint64_t begin = 0;  // of what is in the buffer
  std::int64_t number = 1;  // of the line at `begin`
  auto next = offsets.begin();
  while (next != offsets.end()) {
    const ssize_t got = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::uint64_t end = begin + static_cast<std::uint64_t>(got);
    auto counted = buffer.begin();
    for (; next != offsets.end() && *next < end; ++next) {
      const auto here = buffer.begin() + static_cast<std::ptrdiff_t>(*next - begin);
      number += std::count(counted, here, '\n');
      counted = here;
      numbers[*next] = number;
    }
    number += std::count(counted, buffer.begin() + got, '\n');
    begin = end;
  }
  return numbers;
}

}  // namespace

std::vector<Refusals> located_refusals(const std::vector<parser::RefusedLines>& lines, int file) {
  std::vector<std::uint64_t> offsets;
  for (const parser::RefusedLines& refused : lines) {
    for (const parser::RefusedLine& sample : refused.samples) offsets.push_back(sample.offset);
  }
  std::sort(offsets.begin(), offsets.end());
  const auto numbers = line_numbers(offsets, file);
  std::vector<Refusals> all;
  for (const parser::RefusedLines& refused : lines) {
    Refusals located = {refused.reason, refused.count, {}};
    for (const parser::RefusedLine& sample : refused.samples) {
      const auto number = numbers.find(sample.offset);
      located.samples.push_back(
          {number == numbers.end() ? std::nullopt : std::optional(number->second),
           parser::safe_text(sample.line)});
    }
    all.push_back(std::move(located));
  }
  return all;
}

void write_refusals(const LogReport& report, bool full_names, std::ostream& out) {
  bool has_any = false;
  const std::vector<std::string> names = shown_names(report, full_names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ReportedRun& run = report.runs[i];
    if (run.refusals.empty()) continue;
    has_any = true;
    out << fmt::format("\nRefused lines of {}:\n", names[i]);
    for (const Refusals& refused : run.refusals) {
      out << fmt::format("  {} {}. {}\n", refused.count, parser::line_refusal_name(refused.reason),
                         parser::line_refusal_explanation(refused.reason));
      for (const RefusedSample& sample : refused.samples) {
        out << fmt::format("    line {}: {}\n",
                           sample.line_number ? fmt::to_string(*sample.line_number) : "?",
                           sample.text);
      }
    }
  }
  if (!has_any) out << "\nNo line was refused.\n";
  for (const ReportedRun& run : report.runs) {
    if (run.flaw.empty()) continue;
    out << fmt::format("\n{}\n", parser::safe_text(partly_read_text(run)));
  }
}

}  // namespace llmb::report
