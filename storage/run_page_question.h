// PageQuestion: the SQL that finds the runs of a page, by id and sort value, along the sort key's
// index or by sorting. Which of them is asked, and how far, is for the caller (run_list.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/run_filter_terms.h"
#include "storage/run_query.h"

namespace llmb::storage {

enum class SortValueKind { integer, real, text };
struct SortColumn {
  RunSortKey key;
  const char* column;
  SortValueKind kind;
  bool may_be_absent = true;
};
const SortColumn& sort_column(RunSortKey key);
// Nothing: the text is no value of that kind.
std::optional<SqlParameter> parse_sort_value(SortValueKind kind, const std::string& text);
// Of a row whose next column is the sort value; nothing: it is absent.
std::optional<SqlParameter> read_sort_value(const SortColumn& column, Statement& row);
RunKeyset keyset_of(const std::optional<SqlParameter>& sort_value, RunId id);

// A part of the list: of the runs with a sort value or, after all of them, of those without.
struct Stretch {
  bool has_value = true;
  std::optional<RunKeyset> after;
  std::optional<RunKeyset> until;             // it ends with this one
  std::optional<std::string> equal_value;     // that all of it have
  std::optional<std::string> beyond_value;    // that all of it are behind
  std::optional<std::string> short_of_value;  // that all of it are before
};

// A stretch as parts of one sort value, or of those between two: SQLite begins and ends a walk at a
// value, and would look at all runs that share it with the first or the last one, which may be
// nearly all that there are.
std::vector<Stretch> parts_of(RunSortKey sort, const Stretch& stretch);

// How a page is found: along the sort key's index, or by sorting all that match.
enum class PageSearchKind { walk, sort };

// The runs of one row of run_tally, by its key, that began in the filter's time.
Question ids_of_combination(const SqlDialect& dialect, const RunFilter& filter,
                            const std::string& key);

class PageQuestion {
 public:
  // `gathered`: all runs that match; null where they are not known. All three outlive it.
  PageQuestion(const SqlDialect& dialect, const RunQuery& query,
               const std::vector<RunId>* gathered);

  // Asks for id and sort value; the last parameter is the number of rows.
  Question of(const Stretch& stretch, PageSearchKind kind) const;
  // The same of the runs of one row of run_tally, by its key.
  Question of_combination(const std::string& key, const Stretch& stretch) const;
  // The same of the run so many places behind the stretch's beginning, whether it matches or not;
  // the last parameter is that number.
  Question of_its_end(const Stretch& stretch) const;
  // How many runs there are, whether they match or not.
  Question of_its_length(const Stretch& stretch) const;

 private:
  const char* covered_column() const;
  Question of_all_sorted(const Stretch& stretch) const;
  Where where_of_page(bool is_walked) const;
  void add_stretch(const Stretch& stretch, const std::string& name, Where& where) const;
  std::string order_by(const Stretch& stretch, const std::string& name) const;

  const SqlDialect& dialect_;
  const RunQuery& query_;
  const std::vector<RunId>* const gathered_;
  const SortColumn& column_;
  const std::string direction_;
};

}  // namespace llmb::storage
