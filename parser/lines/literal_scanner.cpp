#include "parser/lines/literal_scanner.h"

#include <stdexcept>
#include <utility>

namespace llmb::parser {

struct FingerprintPlan {
  std::vector<std::string> literals;
};

LiteralScanner::LiteralScanner(std::vector<std::string> literals, Engine engine) {
  if (literals.empty()) throw std::invalid_argument("literal scanner: no literals");
  for (const std::string& literal : literals) {
    if (literal.empty()) throw std::invalid_argument("literal scanner: an empty literal");
  }
  if (engine != Engine::best && engine != Engine::portable) {
    throw std::invalid_argument("literal scanner: engine " + std::string(engine_name(engine)) +
                                " is not available on this machine");
  }
  plan_ = std::make_shared<FingerprintPlan>(FingerprintPlan{std::move(literals)});
}

std::optional<LiteralScanner::Hit> LiteralScanner::find(std::string_view block,
                                                        std::size_t from) const {
  std::optional<Hit> first;
  for (std::size_t index = 0; index < plan_->literals.size(); ++index) {
    const std::size_t position = block.find(plan_->literals[index], from);
    if (position == std::string_view::npos) continue;
    if (!first || position < first->position) first = Hit{position, index};
  }
  return first;
}

const std::vector<std::string>& LiteralScanner::literals() const {
  return plan_->literals;
}

std::vector<LiteralScanner::Engine> LiteralScanner::available_engines() {
  return {Engine::portable};
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
