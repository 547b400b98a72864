// Submission <-> JSON: the body of POST /jobs, an entry of a file of jobs, a row of the database.
#include "server/dispatch/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "parser/foundation/text.h"
#include "server/dispatch/runner_option_table.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Thrown and caught within this file.
struct BadField {
  std::string message;
};

std::string text_of(const OrderedJson& value, const std::string& key) {
  if (!value.is_string()) throw BadField{"'" + key + "' has to be a text"};
  return value.get<std::string>();
}

bool flag_of(const OrderedJson& value, const std::string& key) {
  if (!value.is_boolean()) throw BadField{"'" + key + "' has to be true or false"};
  return value.get<bool>();
}

std::int64_t count_of(const OrderedJson& value, const std::string& key, std::int64_t min = 1) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < min ||
      value.get<std::int64_t>() > 10'000'000) {
    throw BadField{fmt::format("'{}' has to be a whole number from {} to 10000000", key, min)};
  }
  return value.get<std::int64_t>();
}

std::int64_t count_or_flag_of(const OrderedJson& value, const std::string& name) {
  const std::string key = "runner_options." + name;
  const RunnerOption* const known = runner_option(name);
  if (known != nullptr && known->is_flag) return flag_of(value, key) ? 1 : 0;
  return count_of(value, key, known == nullptr ? 1 : known->value_min);
}

void require_object(const OrderedJson& value, const std::string& key) {
  if (!value.is_object()) throw BadField{"'" + key + "' has to be an object"};
}

std::vector<std::int64_t> counts_of(const OrderedJson& value, const std::string& key) {
  if (!value.is_array()) return {count_of(value, key)};
  std::vector<std::int64_t> counts;
  for (const OrderedJson& count : value) counts.push_back(count_of(count, key));
  if (counts.empty()) throw BadField{"'" + key + "' has to hold a number"};
  return counts;
}

void require(const parser::Result<void>& result) {
  if (!result) throw BadField{result.error().message};
}

void read_slurm(const OrderedJson& value, SlurmParameters& slurm) {
  require_object(value, "slurm");
  for (const auto& [name, setting] : value.items()) {
    std::string word;
    if (setting.is_string()) {
      word = setting.get<std::string>();
    } else if (setting.is_number_integer()) {
      word = fmt::to_string(setting.get<std::int64_t>());
    } else if (setting.is_boolean() && setting.get<bool>()) {
      word = "";
    } else {
      throw BadField{"'slurm." + name + "' has to be a text, a number or true"};
    }
    require(add_slurm_parameter(slurm, name, word, "slurm"));
  }
}

struct Several {
  Submission submission;
  std::vector<std::int64_t> scales;
  std::int64_t repeats = 1;
};

using Reader = std::function<void(Several&, const OrderedJson&)>;

const std::vector<std::pair<std::string, Reader>>& readers() {
  const auto text = [](std::string Submission::*field, const std::string& key) -> Reader {
    return [field, key](Several& into, const OrderedJson& value) {
      into.submission.*field = text_of(value, key);
    };
  };
  const auto flag = [](bool Submission::*field, const std::string& key) -> Reader {
    return [field, key](Several& into, const OrderedJson& value) {
      into.submission.*field = flag_of(value, key);
    };
  };
  const auto number = [](std::optional<std::int64_t> Submission::*field,
                         const std::string& key) -> Reader {
    return [field, key](Several& into, const OrderedJson& value) {
      into.submission.*field = count_of(value, key);
    };
  };
  static const std::vector<std::pair<std::string, Reader>> all = {
      {"workload", text(&Submission::workload, "workload")},
      {"model_size", text(&Submission::model_size, "model_size")},
      {"dtype", text(&Submission::dtype, "dtype")},
      {"scale",
       [](Several& into, const OrderedJson& value) { into.scales = counts_of(value, "scale"); }},
      {"repeats",
       [](Several& into, const OrderedJson& value) { into.repeats = count_of(value, "repeats"); }},
      {"gpu_type", text(&Submission::gpu_type, "gpu_type")},
      {"document", text(&Submission::document, "document")},
      {"gpus_per_node", number(&Submission::gpus_per_node, "gpus_per_node")},
      {"launcher", text(&Submission::launcher, "launcher")},
      {"backend", text(&Submission::backend, "backend")},
      {"profile", flag(&Submission::profile, "profile")},
      {"profile_start_step", number(&Submission::profile_start_step, "profile_start_step")},
      {"profile_stop_step", number(&Submission::profile_stop_step, "profile_stop_step")},
      {"profile_ranks", text(&Submission::profile_ranks, "profile_ranks")},
      {"gpu_metrics", flag(&Submission::gpu_metrics, "gpu_metrics")},
      {"nccl_trace", flag(&Submission::nccl_trace, "nccl_trace")},
      {"checkpoint", flag(&Submission::checkpoint, "checkpoint")},
      {"load_checkpoint_path", text(&Submission::load_checkpoint_path, "load_checkpoint_path")},
      {"container_image", text(&Submission::container_image, "container_image")},
      {"container_mounts", text(&Submission::container_mounts, "container_mounts")},
      {"proxy", flag(&Submission::proxy, "proxy")},
      {"runner_options",
       [](Several& into, const OrderedJson& value) {
         require_object(value, "runner_options");
         for (const auto& [name, setting] : value.items()) {
           into.submission.runner_options[name] = count_or_flag_of(setting, name);
         }
       }},
      {"environment",
       [](Several& into, const OrderedJson& value) {
         require_object(value, "environment");
         for (const auto& [name, setting] : value.items()) {
           into.submission.environment[name] = text_of(setting, "environment." + name);
         }
       }},
      {"slurm",
       [](Several& into, const OrderedJson& value) { read_slurm(value, into.submission.slurm); }},
      {"additional_slurm_params",
       [](Several& into, const OrderedJson& value) {
         require(add_additional_slurm_params(into.submission.slurm,
                                             text_of(value, "additional_slurm_params")));
       }},
  };
  return all;
}

Several read_several(const OrderedJson& document) {
  Several several;
  require_object(document, "the submission");
  for (const auto& item : document.items()) {
    const std::string& key = item.key();
    const auto reader = std::find_if(readers().begin(), readers().end(),
                                     [&](const auto& entry) { return entry.first == key; });
    if (reader == readers().end()) {
      std::string known;
      for (const auto& [name, unused] : readers()) {
        known.append(known.empty() ? "" : ", ").append(name);
      }
      throw BadField{"unknown key " + in_quotes(key) + "; known: " + known};
    }
    reader->second(several, item.value());
  }
  // JOB_TOTAL_GPUS among the variables may say it.
  if (several.scales.empty()) several.scales = {0};
  return several;
}

}  // namespace

parser::Result<std::vector<Submission>> parse_submissions(std::string_view json) {
  const OrderedJson document = OrderedJson::parse(json, nullptr, false);
  if (document.is_discarded()) return parser::fail("the submission is not valid JSON");
  try {
    const Several several = read_several(document);
    const auto repeats = static_cast<std::size_t>(several.repeats);
    if (repeats > kJobsAtOnceMax || several.scales.size() * repeats > kJobsAtOnceMax) {
      return parser::fail(fmt::format("more than {} jobs at once", kJobsAtOnceMax));
    }
    std::vector<Submission> submissions;
    for (const std::int64_t scale : several.scales) {
      for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
        submissions.push_back(several.submission);
        submissions.back().scale = scale;
      }
    }
    return submissions;
  } catch (const BadField& bad) {
    return parser::fail(bad.message);
  }
}

std::string in_keys(std::string_view sentence) {
  const auto is_of_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  std::string text;
  while (!sentence.empty()) {
    const std::size_t begin = std::min(sentence.find("--"), sentence.size());
    text += sentence.substr(0, begin);
    sentence.remove_prefix(begin);
    const auto end = std::find_if_not(sentence.begin(), sentence.end(), is_of_name);
    const std::string option(sentence.begin(), end);
    sentence.remove_prefix(option.size());
    std::string key = option.substr(std::min<std::size_t>(2, option.size()));
    std::replace(key.begin(), key.end(), '-', '_');
    if (key == "set") key = "runner_options";
    if (key == "slurm_arg") key = "slurm";
    if (key == "env") key = "environment";
    const bool is_known = std::any_of(readers().begin(), readers().end(),
                                      [&](const auto& entry) { return entry.first == key; });
    text += is_known ? "'" + key + "'" : option;
  }
  return text;
}

void spell_as_catalog(Submission& submission) {
  for (std::string* const name :
       {&submission.gpu_type, &submission.dtype, &submission.model_size}) {
    *name = parser::lower(*name);
  }
}

std::string submission_json(const Submission& submission) {
  OrderedJson json;
  json["workload"] = submission.workload;
  json["model_size"] = submission.model_size;
  json["dtype"] = submission.dtype;
  if (submission.scale > 0) json["scale"] = submission.scale;
  json["gpu_type"] = submission.gpu_type;
  if (!submission.document.empty()) json["document"] = submission.document;
  if (submission.gpus_per_node) json["gpus_per_node"] = *submission.gpus_per_node;
  json["launcher"] = submission.launcher;
  json["backend"] = submission.backend;
  json["profile"] = submission.profile;
  if (submission.profile_start_step) json["profile_start_step"] = *submission.profile_start_step;
  if (submission.profile_stop_step) json["profile_stop_step"] = *submission.profile_stop_step;
  if (!submission.profile_ranks.empty()) json["profile_ranks"] = submission.profile_ranks;
  if (submission.gpu_metrics) json["gpu_metrics"] = true;
  json["nccl_trace"] = submission.nccl_trace;
  json["checkpoint"] = submission.checkpoint;
  if (!submission.load_checkpoint_path.empty()) {
    json["load_checkpoint_path"] = submission.load_checkpoint_path;
  }
  if (!submission.container_image.empty()) json["container_image"] = submission.container_image;
  if (!submission.container_mounts.empty()) {
    json["container_mounts"] = submission.container_mounts;
  }
  json["proxy"] = submission.proxy;
  OrderedJson options = OrderedJson::object();
  for (const auto& [name, value] : submission.runner_options) {
    options[name] = is_runner_flag(name) ? OrderedJson(value != 0) : OrderedJson(value);
  }
  json["runner_options"] = options;
  json["environment"] = submission.environment;
  OrderedJson slurm = OrderedJson::object();
  for (const auto& [name, value] : submission.slurm) {
    slurm[name] = value.empty() ? OrderedJson(true) : OrderedJson(value);
  }
  json["slurm"] = slurm;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace llmb::dispatch
