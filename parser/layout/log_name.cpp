#include "parser/layout/log_name.h"

#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

// The launcher's prefix is <account>-<last part of account>; a user's own prefix is kept whole.
std::string account_of(std::string_view prefix) {
  const std::size_t dash = prefix.rfind('-');
  if (dash == std::string_view::npos) return std::string(prefix);
  const std::string_view account = prefix.substr(0, dash);
  const std::size_t last_part = account.rfind('_');
  const std::string_view suffix =
      last_part == std::string_view::npos ? account : account.substr(last_part + 1);
  return std::string(suffix == prefix.substr(dash + 1) ? account : prefix);
}

bool starts_like_an_experiment(std::string_view text) {
  const std::size_t end = text.find('_');
  return end != std::string_view::npos && !workload_type(text.substr(0, end)).empty();
}

// Where the experiment begins in "<prefix>.<experiment>…"; 0 where there is no prefix. A dot alone
// proves nothing: pretrain_llama3.1_405b holds one.
std::size_t find_name(std::string_view stem, std::string_view experiment) {
  if (!experiment.empty()) {
    const std::size_t found = stem.find("." + std::string(experiment));
    if (found != std::string_view::npos) return found + 1;
    if (stem.starts_with(experiment)) return 0;
  }
  if (starts_like_an_experiment(stem)) return 0;
  for (std::size_t dot = stem.find('.'); dot != std::string_view::npos;
       dot = stem.find('.', dot + 1)) {
    if (starts_like_an_experiment(stem.substr(dot + 1))) return dot + 1;
  }
  const std::size_t dot = stem.find('.');
  const bool has_account = dot != std::string_view::npos && dot + 1 < stem.size() &&
                           stem.substr(0, dot).find('-') != std::string_view::npos;
  return has_account ? dot + 1 : 0;
}

// How many of the name's tokens are not job id or retry, when no folder tells. A number right
// behind the dtype is the older names' scale.
std::size_t count_name_tokens(const std::vector<std::string_view>& tokens) {
  std::size_t count = tokens.size();
  while (count > 1 && parse_digits(tokens[count - 1])) --count;
  if (count == tokens.size()) return count;
  const bool after_dtype =
      is_dtype(tokens[count - 1]) ||
      (count > 1 && is_dtype_variant(tokens[count - 1]) && is_dtype(tokens[count - 2]));
  if (after_dtype) ++count;
  while (tokens.size() - count > 2) ++count;
  return count;
}

void set_numbers(const std::vector<std::string_view>& tokens, std::size_t first, LogName& result) {
  if (first < tokens.size()) result.job_id = parse_digits(tokens[first]);
  if (result.job_id && first + 1 < tokens.size()) result.retry = parse_digits(tokens[first + 1]);
}

}  // namespace

LogName parse_log_name(std::string_view file_name, std::string_view experiment) {
  LogName result;
  std::string_view stem = file_name;
  if (stem.ends_with(".out") && stem.size() > 4) stem.remove_suffix(4);
  result.name = stem;
  if (stem.starts_with("slurm-")) {
    result.job_id = parse_digits(stem.substr(6));
    return result;
  }
  const bool is_log = stem.starts_with("log-");
  if (is_log) stem.remove_prefix(4);
  if (!is_log && experiment.empty() && !starts_like_an_experiment(stem)) return result;

  const std::size_t begin = find_name(stem, experiment);
  if (begin > 1) result.account = account_of(stem.substr(0, begin - 1));
  stem.remove_prefix(begin);

  if (!experiment.empty() && stem.starts_with(experiment)) {
    const std::string_view rest = stem.substr(experiment.size());
    if (rest.empty() || rest.front() == '_') {
      result.name = experiment;
      // A further run of a task with the same name carries text of its own before the numbers.
      const std::vector<std::string_view> tokens = split(rest, '_');
      std::size_t first = tokens.size();
      while (first > 1 && tokens.size() - first < 2 && parse_digits(tokens[first - 1])) --first;
      set_numbers(tokens, first, result);
      return result;
    }
  }
  const std::vector<std::string_view> tokens = split(stem, '_');
  const std::size_t name_tokens = count_name_tokens(tokens);
  set_numbers(tokens, name_tokens, result);
  std::size_t length = 0;
  for (std::size_t i = 0; i < name_tokens; ++i) length += tokens[i].size() + (i > 0 ? 1 : 0);
  result.name = stem.substr(0, length);
  return result;
}

}  // namespace llmb::parser
