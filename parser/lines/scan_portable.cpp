#include "parser/lines/scan_engines.h"

namespace llmb::parser {

void scan_portable(CandidateSearch& search) {
  const auto& tables = search.plan().byte_tables;
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t whole =
      search.size() < kFingerprintBytes ? 0 : search.size() - kFingerprintBytes + 1;
  std::size_t at = search.from();
  while (at < search.end() && at < whole) {
    unsigned buckets = tables[0][bytes[at]];
    for (std::size_t k = 1; k < kFingerprintBytes; ++k) buckets &= tables[k][bytes[at + k]];
    if (buckets != 0) search.check(at, buckets);
    ++at;
  }
  search.check_rest(at);
}

}  // namespace llmb::parser
