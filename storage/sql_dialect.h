// SqlDialect: the words of SQL in which the two engines differ. What both understand is written
// once, where it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmb::storage {

struct SqlDialect {
  // Before a column: its index is not to be used. SQLite has no statistics of the data to tell that
  // by itself; PostgreSQL has.
  std::string_view without_index;
  // Whether a column, `{}`, contains the text that searched_text() makes the parameter of, whatever
  // the case of ASCII letters.
  std::string_view contains;
  std::string (*searched_text)(std::string_view text);
  // Of a run whose path does not contain its experiment's name.
  std::string_view is_named_elsewhere;
  // That one of two conditions, each `{}`, holds for a run, each found by an index of its own.
  std::string_view is_either;
  // The runs that may have a text, each once, as `candidate`: few more than those that have it; the
  // parameter is made by trigrams(). Nothing: of that text the index says nothing. Empty: the
  // engine finds its index by `contains`.
  std::string_view candidates_of_text;
  std::optional<std::string> (*trigrams)(std::string_view text);
  // After a column: it is one of the numbers of a list that is one parameter, which list_text()
  // makes.
  std::string_view is_in_list;
  // The same for tens of thousands, asked of many rows: as a table, which every version hashes.
  std::string_view is_in_long_list;
  char list_begin;
  char list_end;
  // The table, or a join, by which the runs of one row of run_tally are found; that they are its,
  // by its key; and of how many such rows asking one after the other is quicker than a scan of all
  // runs.
  std::string_view runs_by_combination;
  std::string_view is_of_combination;
  std::int64_t combinations_max;
  // Of a row of run_tally: how many of its runs began in a time; {}: what is asked of began_at.
  std::string_view runs_in_time;
  // What is to be written beside new runs, of which the parameters are the first and the last.
  std::span<const std::string_view> beside_new_runs;
  // The names of all tables; and of the table that is the parameter, the columns that hold what was
  // written into them, those of the primary key first, in its order, the others by name: each with
  // its type and its place in the key, 0 for none.
  std::string_view table_list;
  std::string_view column_list;

  std::string list_text(std::span<const std::int64_t> numbers) const;
};

// For a row that may be there already: "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO
// UPDATE SET b = excluded.b". `columns`, separated by commas, begin with the key's.
std::string put_row_sql(std::string_view table, std::size_t key_columns, std::string_view columns);

}  // namespace llmb::storage
