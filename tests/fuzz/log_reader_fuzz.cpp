// libFuzzer target: any bytes, in any two pieces, with a save and restore between them. Neither
// piece may crash the reader, and cutting must not change what is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parser/reader/log_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using llmb::parser::LogReader;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t wanted = static_cast<std::size_t>(data[0]) * 256 + data[1];
  const std::size_t cut = bytes.empty() ? 0 : wanted % bytes.size();

  LogReader whole;
  whole.feed(bytes);
  whole.finish();

  LogReader first;
  first.feed(bytes.substr(0, cut));
  auto second = LogReader::restore(first.save_state());
  if (!second) std::abort();
  second->feed(bytes.substr(first.committed_offset()));
  second->finish();
  if (!(second->facts() == whole.facts())) std::abort();

  // A state from outside may be damaged in any way: refused or read, never a crash.
  if (auto odd = LogReader::restore(bytes)) odd->feed(bytes);
  return 0;
}
