#include "parser/lines/scan_engines.h"

namespace llmb::parser {

void scan_portable(CandidateSearch& search) {
  const auto& tables = search.plan().byte_tables;
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t whole =
      search.size() < kFingerprintBytes ? 0 : search.size() - kFingerprintBytes + 1;
  std::size_t at = search.from();
  static_assert(kFingerprintBytes == 4);
  for (; at < search.end() && at < whole; ++at) {
    const unsigned pair = tables[0][bytes[at]] & tables[1][bytes[at + 1]];
    if (pair == 0) continue;
    const unsigned buckets = pair & tables[2][bytes[at + 2]];
    if (buckets != 0) search.check(at, buckets);
  }
  search.check_rest(at);
}

}  // namespace llmb::parser
