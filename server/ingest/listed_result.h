// What lists show of a run, as ingest judges it; and the runs whose lists another catalog made
// (a database of before, a program with other tables, another --catalog), brought up to date.
#pragma once

#include "parser/statistics/judge_run.h"
#include "storage/database.h"

namespace llmb::ingest {

// `judgement` holds metrics. Of profiles only the configuration is asked; storage knows the files.
storage::ListedResult listed_result(const parser::Catalog& catalog,
                                    const parser::Judgement& judgement,
                                    const parser::RunConfiguration& configuration,
                                    const parser::LogFacts& facts);

// The same of a stored run over its stored window, which costs no step to be read.
storage::ListedResult listed_result(const parser::Catalog& catalog, const storage::RunRecord& run);

// Before anything else is written: takes a quarter of a millisecond a run, and nothing where the
// catalog is the same. Throws StorageError.
void bring_lists_up_to_date(storage::Writer& writer, const std::string& database_path,
                            const parser::Catalog& catalog);

}  // namespace llmb::ingest
