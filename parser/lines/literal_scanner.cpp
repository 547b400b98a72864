#include "parser/lines/literal_scanner.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "parser/lines/fingerprint_plan.h"
#include "parser/lines/scan_engines.h"

namespace llmb::parser {

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
  FingerprintPlan plan = plan_fingerprints(std::move(literals));
  plan.engine = engine;
  plan_ = std::make_shared<const FingerprintPlan>(std::move(plan));
}

std::optional<LiteralScanner::Hit> LiteralScanner::find(std::string_view block,
                                                        std::size_t from) const {
  if (from >= block.size()) return std::nullopt;
  CandidateSearch search(*plan_, block, from);
  switch (plan_->engine) {
    case Engine::avx2:
      scan_avx2(search);
      break;
    case Engine::sse2:
      scan_sse2(search);
      break;
    case Engine::neon:
      scan_neon(search);
      break;
    case Engine::best:
    case Engine::portable:
      scan_portable(search);
      break;
  }
  return search.hit();
}

const std::vector<std::string>& LiteralScanner::literals() const {
  return plan_->literals;
}

std::vector<LiteralScanner::Engine> LiteralScanner::available_engines() {
  std::vector<Engine> engines = {Engine::portable};
  if (has_sse2()) engines.push_back(Engine::sse2);
  if (has_avx2()) engines.push_back(Engine::avx2);
  if (has_neon()) engines.push_back(Engine::neon);
  return engines;
}

std::string_view engine_name(LiteralScanner::Engine engine) {
  switch (engine) {
    case LiteralScanner::Engine::best:
      return "best";
    case LiteralScanner::Engine::portable:
      return "portable";
    case LiteralScanner::Engine::sse2:
      return "sse2";
    case LiteralScanner::Engine::avx2:
      return "avx2";
    case LiteralScanner::Engine::neon:
      return "neon";
  }
  return "unknown";
}

}  // namespace llmb::parser
