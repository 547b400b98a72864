// WantedLiterals: what all that reads lines asks for (dialects, failure signs, checkpoints, stated
// configuration, interruptions, NCCL traces, reports on ranks), as one set for one scan. A second
// look at a line that was handed on tells who wants it, at the cost of one scan instead of a search
// for every literal.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "parser/dialects/sign_index.h"
#include "parser/lines/literal_scanner.h"

namespace llmb::parser {

class WantedLiterals {
 public:
  // The tables are large and of no state: one for all readers.
  static const WantedLiterals& instance();

  const LiteralScanner& scanner() const { return scanner_; }

  LiteralSet none() const { return LiteralSet(scanner_.literals().size()); }
  // Replaces `found`, a none() once, by what `text` holds from `from` on. The sets below are to be
  // compared with it: one that it intersects has a literal in the text.
  void find_in(std::string_view text, LiteralSet& found, std::size_t from = 0) const;

  const LiteralSet& of_dialect(std::size_t reader) const { return dialects_[reader]; }
  // Of failure_signs(), checkpoint_literals(), interruption_literals().
  const SignIndex& of_failures() const { return failures_; }
  const SignIndex& of_checkpoints() const { return checkpoints_; }
  const SignIndex& of_interruptions() const { return interruptions_; }
  const LiteralSet& of_nccl_trace() const { return nccl_trace_; }
  const LiteralSet& of_rank_reports() const { return rank_reports_; }
  const LiteralSet& of_stated_configuration() const { return stated_configuration_; }

 private:
  using Texts = std::span<const std::string_view>;

  WantedLiterals();
  LiteralSet set_of(Texts literals) const;

  LiteralScanner scanner_;
  std::vector<LiteralSet> dialects_;  // in the order of make_dialect_readers()
  SignIndex failures_;
  SignIndex checkpoints_;
  SignIndex interruptions_;
  LiteralSet nccl_trace_;
  LiteralSet rank_reports_;
  LiteralSet stated_configuration_;
};

}  // namespace llmb::parser
