#include "parser/dialects/program_place.h"

#include <re2/re2.h>

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

struct FrameRow {
  ProgramPlace place;
  // RE2 that matches at the end of the file's last three names; empty for any file.
  std::string_view file;
  // RE2 that the whole name of the function matches; empty for any function.
  std::string_view function;
};

// The first row that fits a frame names its place; a frame that none fits changes nothing.
constexpr auto kFrameRows = [] {
  using enum ProgramPlace;
  return std::array{
      // Programs that start others, and those that pass on a call.
      FrameRow{unknown, R"((?:^|/)(?:runpy\.py|<frozen runpy>)$)", ""},

      // What is saved is the program's own; "checkpoint" is also a way to spare memory.
      FrameRow{computing, "", R"(_?(?:\w+_)?(?:save|write|dump)\w*)"},
      FrameRow{engine,
               R"((?:utils/checkpoint|(?:activation|recompute)\w*|checkpoint_wrapper)\.py$)", ""},

      FrameRow{
          checkpoint, "",
          R"(\w*(?:load|restor|resum|read)\w*(?:checkpoint|ckpt|state_?dict|weights|metadata)\w*|)"
          R"(\w*(?:checkpoint|ckpt)\w*(?:load|restor|resum|read)\w*)"},
      FrameRow{checkpoint,
               R"((?:^|/)(?:dist_checkpointing/\w+/|dist_checkpointing/|distributed/checkpoint/|)"
               R"(_shard/checkpoint/|orbax/\w+/|checkpointers?/)\w+\.py$)",
               ""},
      FrameRow{checkpoint, R"((?:^|/)\w*(?:checkpoint|ckpt)\w*\.py$)", ""},
      FrameRow{checkpoint, R"(torch/serialization\.py$|safetensors/\w+\.py$)",
               R"(\w*(?:load|read)\w*)"},

      FrameRow{data,
               R"((?:^|/)\w*(?:data_?set|data_?loader|data_?module|collat|tokeniz|)"
               R"(sampler|data_?(?:iter|proc|util|pipe))\w*\.py$)",
               ""},
      FrameRow{
          data,
          R"((?:^|/)(?:data|datasets?|data_?loaders?|tokenizers?|data/_utils|datapipes|streaming|)"
          R"(input_pipelines?|webdataset|sentencepiece|tiktoken)/)"
          R"(\w+\.py$)",
          ""},
      FrameRow{
          data, "",
          R"(_?worker_loop|get_batch\w*|_?(?:get|load|build|make|create|prepare|process|map)\w*)"
          R"(_(?:data|data_?sets?|data_?loaders?|tokenizer|samples?|corpus)|\w*collate\w*|)"
          R"(_?tokenize\w*|\w*data_?sets?_provider|batch_generator|get_blend\w*|_map_single)"},

      FrameRow{configuration, "",
               R"(_?(?:validate|check|verify)_?\w*(?:arg|config|option|setting|param)\w*|)"
               R"(_?parse_\w*(?:arg|dict|yaml|json|config|option)\w*|parse_known_args|parse_args|)"
               R"(__post_init__|from_config|_?(?:get|load|read|make|build|update|init|merge|)"
               R"(override)\w*)"
               R"(_(?:args|arguments|config|configuration|cfg|hparams|options))"},
      FrameRow{configuration,
               R"((?:^|/)(?:arguments|args|\w+_args|argparse|\w*argparser|pyconfig|configs?|)"
               R"(\w+_configs?|)"
               R"(config_\w+|configuration_?\w*|configparser|hparams|options|settings|)"
               R"(text_format)\.py$)",
               ""},
      FrameRow{configuration, R"((?:^|/)(?:hparams|configs?|configuration|arguments)/\w+\.py$)",
               ""},

      FrameRow{rendezvous, R"((?:^|/)(?:rendezvous|\w*rdzv\w*)\.py$)", ""},
      FrameRow{rendezvous, "", R"(init_process_group|_?(?:init|setup|initialize)_distributed)"},

      FrameRow{engine,
               R"((?:^|/)(?:torch/(?:autograd|optim|_dynamo|_inductor)/\w+|nn/modules/\w+|)"
               R"(nn/functional|torch/_tensor|triton/\w+/\w+|distributed/(?:fsdp|tensor|)"
               R"(_composable)/\w+|)"
               R"(fsdp/_fully_shard/\w+|_inductor/runtime/\w+|runtime/zero/\w+|)"
               R"(multiprocessing/\w+)\.py$)",
               ""},
      FrameRow{computing, "",
               R"(_?(?:forward|backward)\w*|_?(?:training|train|forward|eval\w*|optimizer|)"
               R"(inner)_?step\w*|)"
               R"(step|_?(?:train|evaluate|compute)_?(?:batch|loss|epoch|loop)\w*|loss_func|)"
               R"(_?inner_training_loop|fit_loop|_?train_one_\w+)"},

      FrameRow{building, "",
               R"(__init__|_?build_\w*|model_provider\w*|get_model\w*|_?(?:create|make|setup|)"
               R"(init)_model)"
               R"(\w*|instantiate\w*|configure_\w+)"},
  };
}();

// The body of an installed module.
constexpr std::string_view kInstalled = R"((?:site|dist)-packages/|/usr/lib(?:64)?/)";

// What the source of a frame does.
struct FrameSource {
  ProgramPlace place;
  std::string_view text;  // RE2
};
constexpr auto kFrameSources = [] {
  using enum ProgramPlace;
  return std::array{
      FrameSource{checkpoint, R"(\b(?:torch\.load|load_checkpoint|load_state_dict|load_file)\()"},
      FrameSource{checkpoint, R"(\b(?:state_dict|checkpoint|ckpt)\[)"},
      FrameSource{data, R"(\bnext\(\w*(?:iter|data|loader)\w*\)|\bload_dataset\()"},
      FrameSource{data, R"(\bfor .* in (?:enumerate\()?\w*(?:loader|dataset|data_iter)\w*\b)"},
      FrameSource{configuration, R"(\bparse_(?:args|known_args|yaml\w*|dict)\()"},
      FrameSource{configuration,
                  R"(^ *assert \(?(?:not )?(?:\w+\.)?(?:args|cfg|config|hparams)\.)"},
  };
}();

struct FramePatterns {
  FramePatterns() {
    const auto compile = [](std::string_view text) {
      return text.empty() ? nullptr : std::make_unique<RE2>(std::string(text));
    };
    for (const FrameRow& row : kFrameRows) {
      files.push_back(compile(row.file));
      functions.push_back(compile(row.function));
    }
    for (const FrameSource& source : kFrameSources) sources.push_back(compile(source.text));
  }

  std::vector<std::unique_ptr<RE2>> files, functions, sources;
  RE2 installed = RE2(std::string(kInstalled));
};

const FramePatterns& frame_patterns() {
  static const FramePatterns once;
  return once;
}

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

// Folders above may be named anything: "/data/home/…".
std::string_view last_names(std::string_view file) {
  std::size_t begin = file.size();
  for (int names = 0; names < 3 && begin != std::string_view::npos; ++names) {
    if (begin == 0) return file;
    begin = file.rfind('/', begin - 1);
  }
  return begin == std::string_view::npos ? file : file.substr(begin + 1);
}

constexpr std::size_t kFrameBytesMax = 2000;
constexpr std::string_view kFile = "File \"";
constexpr std::string_view kBox = "│";

// What stands before the first `mark`, with `text` moved behind it; empty where there is none.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return taken;
}

// `/opt/x.py", line 501, in validate_args`
TracebackFrame python_frame(std::string_view text) {
  const std::string_view file = take_until(text, "\", line ");
  if (file.empty() || take_until(text, ", in ").empty()) return {};
  return {file, trimmed(text)};
}

// As typer and rich draw it: "/opt/x.py:1190 in _call_impl      │".
TracebackFrame drawn_frame(std::string_view text) {
  constexpr std::string_view kPython = ".py";
  const std::string_view place = take_until(text, " in ");
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || !place.substr(0, colon).ends_with(kPython)) return {};
  return {place.substr(0, colon), text.substr(0, text.find(' '))};
}

// The first row that fits; null where none does.
const FrameRow* find_row(const TracebackFrame& frame) {
  const re2::StringPiece names = piece_of(last_names(frame.file));
  for (std::size_t i = 0; i < kFrameRows.size(); ++i) {
    const std::unique_ptr<RE2>& file = frame_patterns().files[i];
    const std::unique_ptr<RE2>& function = frame_patterns().functions[i];
    if (file != nullptr && !RE2::PartialMatch(names, *file)) continue;
    if (function != nullptr && !RE2::FullMatch(piece_of(frame.function), *function)) continue;
    return &kFrameRows[i];
  }
  return nullptr;
}

// A thousand ranks that end alike print the same frames a thousand times.
const FrameRow* row_of(const TracebackFrame& frame) {
  constexpr std::size_t kKnownMax = 4096;
  thread_local std::unordered_map<std::string, const FrameRow*> known;
  std::string key(last_names(frame.file));
  key.append(1, '\n').append(frame.function);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() == kKnownMax) known.clear();
  return known.emplace(std::move(key), find_row(frame)).first->second;
}

// Of a constructor within other work, that work says more.
bool may_build(ProgramPlace before) {
  return before == ProgramPlace::unknown || before == ProgramPlace::building ||
         before == ProgramPlace::configuration;
}

}  // namespace

TracebackFrame read_traceback_frame(std::string_view line) {
  line = line.substr(0, kFrameBytesMax);
  const std::string_view text = trimmed(line, " |+");
  if (text.starts_with(kFile)) return python_frame(text.substr(kFile.size()));
  return text.starts_with(kBox) ? drawn_frame(trimmed(text.substr(kBox.size()))) : TracebackFrame();
}

ProgramPlace place_after_frame(ProgramPlace before, const TracebackFrame& frame, int depth) {
  if (frame.function == "<module>" && depth > 0 &&
      RE2::PartialMatch(piece_of(frame.file), frame_patterns().installed)) {
    return ProgramPlace::importing;
  }
  const FrameRow* const row = row_of(frame);
  if (row == nullptr || (row->place == ProgramPlace::building && !may_build(before))) return before;
  // A checkpoint's files also save: where the frame above does.
  const bool may_be_saving = row->place == ProgramPlace::checkpoint && row->function.empty();
  if (may_be_saving && before == ProgramPlace::computing) return before;
  return row->place;
}

ProgramPlace place_after_source(ProgramPlace before, std::string_view source) {
  constexpr std::size_t kSourceBytesMax = 500;
  for (std::size_t i = 0; i < kFrameSources.size(); ++i) {
    if (RE2::PartialMatch(piece_of(source.substr(0, kSourceBytesMax)),
                          *frame_patterns().sources[i])) {
      return kFrameSources[i].place;
    }
  }
  return before;
}

}  // namespace llmb::parser
