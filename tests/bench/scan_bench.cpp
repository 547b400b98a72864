// What scan_bench.sh measures, on stdin, read as `parse` reads long logs: the lines that hold one
// of the literals of a file (one a line), counted through LineFilter as `rg -c -F -f` does; or with
// --reader, and all that LogReader looks for, the steps.
//
//   scan_bench LITERALS_FILE [ENGINE]
//   scan_bench --reader
//   scan_bench --literals   all that LogReader looks for, which are not counted but printed
//   scan_bench --nccl       for nccl_bench.sh: the collectives of a trace
//   scan_bench --read       the bytes, which are not looked at
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialects/wanted_literals.h"
#include "parser/lines/line_filter.h"
#include "parser/reader/log_reader.h"
#include "server/report/read_ahead.h"

namespace {

using llmb::parser::LiteralScanner;

std::vector<std::string> read_literals(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> literals;
  for (std::string line; std::getline(file, line);) literals.push_back(line);
  return literals;
}

LiteralScanner::Engine engine_from_name(const std::string& name) {
  for (const LiteralScanner::Engine engine : LiteralScanner::available_engines()) {
    if (llmb::parser::engine_name(engine) == name) return engine;
  }
  throw std::runtime_error("no engine " + name + " on this machine");
}

template <typename OnBlock>
void read_blocks(OnBlock on_block) {
  llmb::report::ReadAhead blocks(STDIN_FILENO, std::numeric_limits<std::uint64_t>::max());
  for (auto block = blocks.next(); !block.empty(); block = blocks.next()) on_block(block);
}

std::int64_t count_lines(const LiteralScanner& scanner) {
  llmb::parser::LineFilter filter(scanner);
  std::int64_t count = 0;
  const auto on_line = [&count](const llmb::parser::Line&) { ++count; };
  read_blocks([&](std::string_view block) { filter.feed(block, on_line); });
  filter.finish(on_line);
  return count;
}

std::int64_t count_steps() {
  llmb::parser::LogReader reader;
  read_blocks([&reader](std::string_view block) { reader.feed(block); });
  reader.finish();
  std::vector<llmb::parser::StepSample> samples;
  llmb::parser::merge_samples(samples, reader.take_samples());
  return static_cast<std::int64_t>(samples.size());
}

std::int64_t count_collectives() {
  llmb::parser::LogReader reader;
  read_blocks([&reader](std::string_view block) { reader.feed(block); });
  reader.finish();
  const llmb::parser::NcclTrace& trace = reader.facts().nccl;
  std::int64_t calls = trace.other_calls;
  for (const llmb::parser::NcclUse& use : trace.uses) calls += use.calls;
  return calls;
}

int print_literals() {
  for (const std::string& literal : llmb::parser::WantedLiterals::instance().scanner().literals()) {
    std::puts(literal.c_str());
  }
  return 0;
}

std::int64_t count_bytes() {
  std::int64_t bytes = 0;
  read_blocks([&bytes](std::string_view block) { bytes += std::ssize(block); });
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs(
        "usage: scan_bench LITERALS_FILE [ENGINE] | --reader | --literals | --nccl | --read\n",
        stderr);
    return 2;
  }
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--literals") return print_literals();
    std::int64_t count = 0;
    if (argc == 2 && std::string_view(argv[1]) == "--reader") {
      count = count_steps();
    } else if (argc == 2 && std::string_view(argv[1]) == "--nccl") {
      count = count_collectives();
    } else if (argc == 2 && std::string_view(argv[1]) == "--read") {
      count = count_bytes();
    } else {
      const auto engine = argc == 3 ? engine_from_name(argv[2]) : LiteralScanner::Engine::best;
      count = count_lines(LiteralScanner(read_literals(argv[1]), engine));
    }
    std::printf("%lld\n", static_cast<long long>(count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scan_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
