// The engines of LiteralScanner: each visits the fingerprint positions of a search that its filter
// lets pass, and differs from the others in speed only. An engine that the program was not built
// with, or the CPU lacks, must not be called.
#pragma once

#include "parser/lines/candidate_search.h"

namespace llmb::parser {

void scan_portable(CandidateSearch& search);
void scan_ssse3(CandidateSearch& search);
void scan_avx2(CandidateSearch& search);
void scan_avx512(CandidateSearch& search);
void scan_neon(CandidateSearch& search);

bool has_ssse3();
bool has_avx2();
bool has_avx512();
bool has_neon();

}  // namespace llmb::parser
