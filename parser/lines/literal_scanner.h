// LiteralScanner: where in a block of bytes does any of some literals stand? The hot loop in front
// of RE2: a SIMD filter looks at every byte once, whatever the number of literals, and only the
// places that pass it are compared with the literals. It knows nothing of lines.
//
// Thread-safe: searching changes nothing. Copies are cheap and share the tables.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/fingerprint.h"
#include "parser/lines/literal_set.h"

namespace llmb::parser {

struct FingerprintPlan;

class LiteralScanner {
 public:
  using Engine = ScanEngine;
  using Hit = LiteralHit;

  // Literals may hold any bytes, be prefixes of each other and repeat. Throws
  // std::invalid_argument when there is none, one is empty, or the engine is not available here.
  explicit LiteralScanner(std::vector<std::string> literals, Engine engine = Engine::best);

  // The first occurrence that begins at or after `from`: lowest position, at one position the
  // lowest literal. Reads no byte outside the block.
  std::optional<Hit> find(std::string_view block, std::size_t from = 0) const;

  // Adds to `found`, a LiteralSet of literals().size(), every literal that begins in `block` at or
  // after `from`.
  void find_all(std::string_view block, LiteralSet& found, std::size_t from = 0) const;

  const std::vector<std::string>& literals() const;
  bool holds_line_end() const;  // some literal has a '\n' or '\r'

  // What this program can run on this CPU, `portable` first, the fastest last; never `best`.
  static std::vector<Engine> available_engines();

 private:
  std::shared_ptr<const FingerprintPlan> plan_;
};

std::string_view engine_name(LiteralScanner::Engine engine);  // "avx2"

}  // namespace llmb::parser
