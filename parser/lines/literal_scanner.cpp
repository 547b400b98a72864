#include "parser/lines/literal_scanner.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "parser/lines/fingerprint_plan.h"
#include "parser/lines/scan_engines.h"

namespace llmb::parser {
namespace {

void scan(CandidateSearch& search) {
  switch (search.plan().engine) {
    case LiteralScanner::Engine::avx512:
      return scan_avx512(search);
    case LiteralScanner::Engine::avx2:
      return scan_avx2(search);
    case LiteralScanner::Engine::ssse3:
      return scan_ssse3(search);
    case LiteralScanner::Engine::neon:
      return scan_neon(search);
    case LiteralScanner::Engine::best:
    case LiteralScanner::Engine::portable:
      return scan_portable(search);
  }
}

}  // namespace

LiteralScanner::LiteralScanner(std::vector<std::string> literals, Engine engine) {
  if (literals.empty()) throw std::invalid_argument("literal scanner: no literals");
  for (const std::string& literal : literals) {
    if (literal.empty()) throw std::invalid_argument("literal scanner: an empty literal");
  }
  const std::vector<Engine> available = available_engines();
  if (engine == Engine::best) engine = available.back();
  if (std::find(available.begin(), available.end(), engine) == available.end()) {
    throw std::invalid_argument("literal scanner: engine " + std::string(engine_name(engine)) +
                                " is not available on this machine");
  }
  plan_ = std::make_shared<const FingerprintPlan>(plan_fingerprints(std::move(literals), engine));
}

std::optional<LiteralScanner::Hit> LiteralScanner::find(std::string_view block,
                                                        std::size_t from) const {
  if (from >= block.size()) return std::nullopt;
  CandidateSearch search(*plan_, block, from);
  scan(search);
  return search.hit();
}

void LiteralScanner::find_all(std::string_view block, LiteralSet& found, std::size_t from) const {
  if (from >= block.size()) return;
  CandidateSearch search(*plan_, block, from, found);
  scan(search);
}

const std::vector<std::string>& LiteralScanner::literals() const {
  return plan_->literals;
}

bool LiteralScanner::holds_line_end() const {
  return plan_->holds_line_end;
}

std::vector<LiteralScanner::Engine> LiteralScanner::available_engines() {
  std::vector<Engine> engines = {Engine::portable};
  if (has_ssse3()) engines.push_back(Engine::ssse3);
  if (has_avx2()) engines.push_back(Engine::avx2);
  if (has_avx512()) engines.push_back(Engine::avx512);
  if (has_neon()) engines.push_back(Engine::neon);
  return engines;
}

std::string_view engine_name(LiteralScanner::Engine engine) {
  switch (engine) {
    case LiteralScanner::Engine::best:
      return "best";
    case LiteralScanner::Engine::portable:
      return "portable";
    case LiteralScanner::Engine::ssse3:
      return "ssse3";
    case LiteralScanner::Engine::avx2:
      return "avx2";
    case LiteralScanner::Engine::avx512:
      return "avx512";
    case LiteralScanner::Engine::neon:
      return "neon";
  }
  return "unknown";
}

}  // namespace llmb::parser
