#include "parser/dialects/exception_cause.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/dialects/exit_status.h"

namespace llmb::parser {
namespace {

struct Words {
  std::string_view cause;
  // RE2 that the whole of the type's last part matches; empty for any type.
  std::string_view type;
  // RE2 that matches within the message, whatever its case; empty for any message.
  std::string_view message;
  // RE2 of messages that are meant otherwise, and go to a later row.
  std::string_view unless = {};
  // RE2 that the message matches too; empty for none.
  std::string_view with = {};
};

// Messages may be a MiB long, and say at their beginning what happened.
constexpr std::size_t kMessageReach = 2000;
constexpr std::size_t kHeadReach = 600;

// RE2 of an exception's type, with what ends it. Captures the last part of its name.
constexpr std::string_view kType =
    R"((?:(?:\w+\.)*(_?[A-Z]\w*(?:Error|Exception|Failure|Timeout|Exit|Expired|Iteration)|)"
    R"(Exception|BrokenProcessPool)|)"
    R"((?:[a-z_]\w*\.)+([A-Z]\w+|error|gaierror|timeout))(?:: |:?\s*$))";
constexpr std::string_view kAlone = R"([ |+]*)";
// What a logger puts before it, and words that say what came of it.
constexpr std::string_view kOfLogger =
    R"re((?:^.{0,80}(?:ERROR|CRITICAL|FATAL|INFO|level=\w+|"(?:level|severity)": ?"\w+")\b)re"
    R"re(.{0,160}?(?:\]:? | - | \| |: |:|msg="|"(?:msg|message|event)": ?")|)re"
    R"re(^\[NeMo [CEI] .{0,200}?(?:\] |: )|)re"
    R"re(^[EFI]\d{4} .{0,200}?(?:\] |: )|)re"
    R"re(^.{0,160}\b(?:[Uu]ncaught|[Uu]nhandled|due to|because of|)re"
    R"re((?:[Ff]ailed|[Cc]rashed|[Ee]nded|[Dd]ied|[Tt]erminated|[Aa]borted) with)\b.{0,80}?:? ))re";
// One of these stands in what kOfLogger matches: most lines need no second look.
constexpr auto kMarksOfLoggers = std::to_array<std::string_view>(
    {"ERROR", "CRITICAL", "FATAL", "INFO", "level", "severity", "[NeMo ", "ncaught", "nhandled",
     "due to", "because of", "ed with"});

// A message that refuses a setting.
constexpr std::string_view kRefusal =
    R"(\bno .{0,60} (?:is|are) available|\bno .{0,60}\b(?:support|specified)\b|)"
    R"(\b(?:must|should|ha(?:s|ve) to|)"
    R"(needs? to) (?:not )?(?:be|have|match|equal|divide|specif|)"
    R"(provide|use|set|contain|include)|\bcan(?:not|'t| not) (?:be )?(?:use|set|specif|combin|mix|)"
    R"(enabl|have|shard|split)|\bonly (?:be )?(?:support|implement|available|allow|)"
    R"(specif|use|set|works? with|one )"
    R"(of|valid)|(?:\bnot|n't)(?: yet| currently| be)? (?:support|implement|allow|compatib|)"
    R"(available|recogni[sz]|permit|divisible|a multiple|equal|match|exist|set\b|specified|given|)"
    R"(provided|)"
    R"(configured|defined)|\bunsupported\b|\b(?:is|are) required\b|\brequires? |\bconflict|)"
    R"(mutually exclusive|\bincompatible|\binconsistent|\binvalid (?:value|choice|option|arg|)"
    R"(config|parallel|setting)|\b(?:unknown|undefined) |\bunrecogni[sz]ed |divisible by|)"
    R"(multiple of|)"
    R"(\b(?:less|greater|larger|smaller|more|fewer|bigger) than\b|\bexceed|\btoo (?:large|small|)"
    R"(many|few|big|long)\b|\bplease (?:set|specify|provide|select|choose|correct|)"
    R"(enable|disable|ensure|make sure)|\b(?:config\w*|argument)s?\b.*\bmismatch|)"
    R"(\bmake sure (?:that )?--)";

// A message about what the program computes with, rather than about how it was set up.
constexpr std::string_view kOfTensors =
    R"(\btensors?(?: (?:[^pm]|m[^o]|p[^a])|[^ a-z_-]|$)|\bshapes?\b|dimension|\bdtype|)"
    R"(broadcast|operand|input_ids|attention.?mask|)"
    R"(unpack|\bconvert|out of (?:range|bounds)|aten::|\bsame device|inplace|backward|\biterat)";

// What a program is set up with.
constexpr std::string_view kSetting =
    R"(parallel|batch|world.?size|pipeline|expert|\bnum_|\bmax_|seq|layers|heads|config|setting|)"
    R"(argument|option|flag|recipe|precision|fp8|fp16|bf16|\bgpus?\b|\bnodes\b|\branks\b|)"
    R"(environment variable|attention)";

// Exceptions that tell of a file and not of which: where they were raised tells that.
constexpr std::string_view kOfAnyFile = "JSONDecodeError|FileNotFoundError";

// In the order in which a reader would ask: memory, numbers, modules, the others, the device, the
// hub, the checkpoint, files, the configuration.
constexpr std::array kWords = {
    Words{"host_oom_kill", R"(_?(?:Array)?MemoryError|ObjectStoreFullError)", ""},
    Words{"host_oom_kill", "",
          R"(DefaultCPUAllocator|)"
          R"(can(?:'t|not) allocate memory|host memory)"},
    Words{"cuda_oom", "",
          R"(\b(?:not enough|insufficient|out of) (?:\w+ )?memory|)"
          R"(\b(?:larger|more|less) than .{0,40}\bmemory\b)"},

    Words{"nan_gradient", "",
          R"(\bgrad.*\b(?:nan|inf|non-?finite)\b|\b(?:nan|inf|non-?finite)\b.*\bgrad|loss scale|)"
          R"(returned nan)"},
    Words{"nan_loss", "",
          R"((?:\bloss|value|tensor|logits|activation).*\b(?:nan|inf|non-?finite|infinite)\b|)"
          R"(\b(?:nan|non-?finite|infinite)\b.*\bloss\b)"},

    Words{"missing_module",
          R"(ModuleNotFoundError|ImportError|DistributionNotFound|)"
          R"(VersionConflict|PackageNotFoundError|MissingCUDAException|PTXASError)",
          ""},
    Words{"missing_module", "",
          R"(failed to import|no module named|cannot import|\bnot installed\b|)"
          R"(\bptxas error\b|please (?:re)?(?:install|upgrade|update|downgrade)|\bpip3? install|)"
          R"(^operator [\w:]+ does not exist|undefined (?:symbol|reference)|shared object|)"
          R"(\bglibc|cuda_home|)"
          R"(compiling objects|building extension|binary incompatib|)"
          R"(compiled (?:against|with|for) (?:a )?different|c(?:\+\+)? compiler)"},
    Words{"missing_module", "",
          R"(\bversions?\b.*(?:required|supported|incompatib|mismatch|too old|or (?:higher|newer|)"
          R"(later|above|greater|older|lower)|but)|)"
          R"((?:require|need|support)s?\b.*\b(?:versions?\b|[a-z][\w.-]+ ?[<>=~]=? ?v?\d+\.\d))",
          R"(checkpoint|compute capability)"},
    Words{"missing_module", "",
          R"(\bjit load|\bhave (?:nccl|mpi|ucc|gloo) built|)"
          R"(\bversions? (?:[\w.]+ )?(?:do(?:es)? not|don't|doesn't) match)"},
    Words{"missing_module", "AttributeError", R"(^module '[\w.]+' has no attribute)"},
    Words{"missing_module", "CalledProcessError",
          R"([/'" ](?:gcc|g\+\+|cc|nvcc|ninja|clang|hipcc)\b)"},
    Words{"task_killed", "CalledProcessError|ProcessExitedException", R"(SIG(?:KILL|BUS)\b)"},
    Words{"segmentation_fault", "CalledProcessError|ProcessExitedException",
          R"(SIG(?:SEGV|ILL|FPE)\b)"},
    Words{"child_failed",
          R"(ProcessExitedException|ProcessRaisedException|ChildFailedError|ActorDiedError|)"
          R"(WorkerCrashedError|RayActorError|ActorUnavailableError)",
          ""},
    Words{"node_failure", "NodeDiedError", ""},
    Words{"child_failed", "CalledProcessError", R"(python|torchrun|accelerate|deepspeed)"},

    Words{"nccl_error", "",
          R"(\b(?:nccl|rccl|hccl|oneccl|xccl|nvshmem)\w*\b.*(?:fail|error|abort)|)"
          R"(mismatch.*\bcollectives?\b|\bcollectives?\b.*mismatch)"},
    Words{"gloo_error", "", R"(\bgloo\b)"},
    Words{"nccl_timeout", "", R"(\bdeepep\b.*\btimeout\b)"},
    Words{"nccl_timeout", "",
          R"((?:all.?reduce|all.?gather|barrier|collective|broadcast|reduce.?scatter|all.?to.?all))"
          R"(.*\btim(?:ed|e)[ -]?out)"},
    Words{"hf_authentication", "GatedRepoError|LocalTokenNotFoundError", ""},
    Words{"hf_authentication", "", R"(huggingface-cli login|hf auth login|\bhf_token\b)"},
    Words{"hf_authentication", "HfHubHTTPError", R"(\b40[13]\b)"},
    Words{"hf_unreachable",
          R"(HfHubHTTPError|OfflineModeIsEnabled|LocalEntryNotFoundError|)"
          R"(ReadTimeout|ConnectTimeout|ProxyError|SSLError|MaxRetryError)",
          ""},
    Words{
        "hf_unreachable", "",
        R"((?:huggingface\.co|\bhf\.co|\bhub\b).*(?:\b5\d\d\b|timed? ?out|unavailable|unreachable|)"
        R"(retries|connect|offline)|downloading the file from (?:huggingface|hf\.co)|)"
        R"((?:\b5\d\d\b|couldn't (?:reach|connect)).*)"
        R"((?:huggingface|\bhf\.co|\bhub\b))",
        R"(can't load)"},
    Words{"rendezvous_failure", "Dist(?:Store|Network)Error", ""},
    Words{"rendezvous_failure", "",
          R"(env:// rendezvous|\bwait timeout after|\bmaster_(?:addr|port)\b|)"
          R"(failed to connect to all addresses)"},
    Words{"rendezvous_failure", "ConnectionRefusedError|ConnectionTimeoutError", ""},
    Words{"rendezvous_failure", "",
          R"(\b(?:connect|socket|(?:tcp)?store|rendezvous|coordinator)\w*\b.{0,60})"
          R"(\b(?:timed? ?out|refused|unreachable))"},
    Words{"peer_lost", "BrokenPipeError|ConnectionResetError|ConnectionAbortedError", ""},

    Words{"gpu_hardware_error", "",
          R"(\bdevice halted|\bhalt(?:ed)? (?:unexpected|premature)|\buncorrectable\b|)"
          R"(\bhardware (?:error|fault|exception|failure)|fallen off the bus|\bgpu hang\b)"},
    Words{"gpu_unavailable", "DeferredCudaCallError", ""},
    Words{
        "gpu_unavailable", "",
        R"(is_available\(\) is false|cudagetdevicecount|)"
        R"(\bdevice (?:acquire|busy|not found|already)|)"
        R"(\bnum_gpus\b.*assert|\bruntime could not be initialized|)"
        R"(\b(?:cuda|gpus?|tpus?) (?:is|are) required|)"
        R"(\b(?:requires?|not compiled with|without|no(?: \w+)?) (?:an? )?(?:cuda|gpus?|tpus?)\b|)"
        R"(\b(?:cuda|gpus?|hip|npus?|hpus?|tpus?|accelerators?) (?:is|are) (?:not|un) ?available|)"
        R"(compute capability|gpu[ -]architecture|\bampere\b|(?:unable|)"
        R"(failed) to initialize backend)"},
    Words{"gpu_unavailable", "", R"(\binvalid device (?:function|ordinal)\b)"},
    Words{"cuda_error", "", R"(\binvalid device pointer\b)"},
    Words{"cuda_error", "(?:Xla|Jax)RuntimeError", R"(\b(?:library|driver)\b)"},
    Words{
        "cuda_error", "",
        R"(\b(?:cuda|cublas|cudnn|cufft|curand|cusparse|cusolver|hip|hipblas|rocblas|miopen|nvrtc|)"
        R"(triton error|npu|acl|hpu|cutlass|habana|pt_bridge|syn(?:node|status|graph|launch|)"
        R"(tensor|device)|)"
        R"(nrt|neuroncores?|xpu|tpu|nvml))"
        R"([\w:]*.*\b(?:error|fail(?:ed|ure)?|status|invalid|unable|no valid|exception)\b)"},

    Words{"configuration_error", "", R"(not recogni[sz]e this architecture)"},
    Words{"checkpoint_unreadable", "DataLossError", R"(sstable|checkpoint)"},
    Words{"checkpoint_unreadable",
          R"(\w*Checkpoint\w*|\w*Safetensor\w*|UnpicklingError|BadZipFile)", "", R"(recompute)"},
    Words{"checkpoint_unreadable", "", R"(\barchive\b.*corrupt|\binvalid (?:header|magic))"},
    Words{"checkpoint_unreadable", "EOFError", R"(ran out of input)"},
    Words{"checkpoint_unreadable", "", R"(\bmismatch:? checkpoint\b)"},
    Words{"checkpoint_unreadable", "",
          R"(\b(?:zarr|tensorstore|ocdbt)\b.*(?:not found|not exist|error|fail|corrupt))"},
    Words{"checkpoint_unreadable", "",
          R"((?:\bcheckpoint|\bckpt|state.?dict|\brestor|\bon-disk|safetensors|optimizer state))"
          R"(.*(?:match|not equal|corrupt|miss|unexpected|invalid|incompatib|not found|\bbut\b|)"
          R"(differ|truncat|unable|cannot|can't|fail|shape))",
          R"(recompute)"},
    Words{
        "checkpoint_unreadable", "",
        R"((?:fail|unable|cannot|could not|can't|error|mismatch).{0,60}\b(?:find|load|read|restor|)"
        R"(resum|deserializ)\w*.{0,40}(?:checkpoint|ckpt|weights|state.?dict))",
        R"(huggingface)"},

    Words{"file_system_error", "PermissionError|IsADirectoryError|NotADirectoryError", ""},
    // Of what speaks to object storage.
    Words{"file_system_error",
          R"(\w*Credentials\w*|EndpointConnectionError|ClientError|\w*RefreshError|)"
          R"(S3\w*(?:Error|Exception)|Aio\w*Error)",
          "", R"(hub|huggingface)"},
    Words{"file_system_error", "",
          R"(permission denied|read-only file system|stale file|input/output error|)"
          R"(transport endpoint)",
          R"(\b40[13]\b|forbidden)"},
    Words{"disk_full_or_quota", "",
          R"(no space left|quota exceeded|\bdisk is full|)"
          R"(inline_container)"},
    Words{"configuration_error",
          R"(MisconfigurationException|\w*Config\w*(?:Error|Exception)|ValidationError|UsageError|)"
          R"(Argument(?:Type)?Error|(?:Scanner|Parser|Constructor|Composer|YAML|)"
          R"(TOMLDecode|Flag|IllegalFlagValue|Parsing|Decoding)Error|Interpolation\w+|)"
          R"(UnrecognizedFlagError|Hydra\w*|InstantiationException|OverrideParseException)",
          ""},
    Words{"configuration_error", "",
          R"(\b(?:cannot|can't|could not|couldn't|unable to) find (?:\w+ ){0,3}(?:config\w*|)"
          R"(presets?|recipes?|overrides?)\b)"},
    // Settings and checkpoints are JSON, too, and either may be gone.
    Words{"tokenizer_or_data_missing", kOfAnyFile, ""},
    Words{"tokenizer_or_data_missing",
          R"(\w*NotFoundError|Dataset\w*Error|DataLossError|ReadError|)"
          R"(UnicodeDecodeError|NoSuchKey)",
          ""},
    Words{"tokenizer_or_data_missing", R"(Arrow\w+)", R"(pars|json|parquet|column|schema|bytes)"},
    Words{"tokenizer_or_data_missing", "",
          R"(\btokenizer\b.*\b(?:couldn't|could not|can't|cannot|unable|fail|missing)|)"
          R"(\b(?:couldn't|could not|can't|cannot|unable|fail\w*)\b.{0,40}\btokenizer\b|)"
          R"(\b(?:unknown|bad|no) split\b|\bcolumns?\b.*\bnot (?:in|found|present)\b|)"
          R"(\bdata ?set\b.*\b(?:(?:holds?|contains?|has) (?:no|fewer|less)|is too)\b|)"
          R"(\b(?:no|zero|0) (?:rows|records|samples|documents|examples|sequences|tokens)\b|)"
          R"(decompress|untagged enum|\bunpack requires a buffer|cannot mmap|)"
          R"(\bcorrupt(?:ed)? (?:block|data|input|record|shard|file)|)"
          R"(\bunexpected end of|\bnot a gzip|\bbad (?:magic|checksum)|crc (?:check|mismatch))"},
    Words{"tokenizer_or_data_missing", "",
          R"(does not appear to have a file named|/[^ ]+ does(?: not|n.t) exist|repo id must be|)"
          R"(unrecognized model in|)"
          R"(can't load (?:the )?(?:model|tokenizer|config|feature)|couldn't find|)"
          R"(could not (?:find|open|read)|failed to (?:download|open|read|find)|)"
          R"(\bno (?:data|samples?) left|out of data\b|)"
          R"(unable to (?:open|read|find|load (?:the )?(?:tokenizer|)"
          R"(vocab|data))|)"
          R"(\bno [\w ]*\b(?:files?|data|samples?|shards?)\b.*\bfound|no such file|)"
          R"(\b(?:files?|paths?|director(?:y|ies)|data(?:set)?s?|tokenizer|vocab\w*|corpus|shard|)"
          R"(parquet|mmap)\b.*(?:not found|missing|does ?n.t exist|not exist|n.t match|is empty|)"
          R"(corrupt|truncated|magic bytes|greater than|unexpected end|no such))"},

    Words{"file_system_error", "",
          R"(failed to (?:upload|write|save)|(?:\bs3\b|s3://|gs://|\bgcs\b|endpoint url|)"
          R"(\bstorage\.|amazonaws|in bucket\b))"
          R"(.*(?:denied|fail|forbidden|closed|error|unable|timed out|could not|not have|expired)|)"
          R"(an error occurred \(\w+\) when calling the \w+ operation|)"
          R"((?:closed|connect|timeout|timed out|error writing).*)"
          R"((?:endpoint url|s3://|gs://|amazonaws))"},
    Words{"file_system_error", "(?:OS|IO|BlockingIO)Error", R"(^\[errno \d+\].*: b?['"]/)"},
    // Without a number: of a library that looks for files.
    Words{"tokenizer_or_data_missing", "(?:OS|IO|Environment)Error", "", R"(^\[errno|^caught )"},

    Words{"configuration_error", "",
          R"((?:\bnot|n't) (?:found )?in (?:the )?(?:registry|config|base model)|)"
          R"(error locating target|)"
          R"(\b\w*(?:config|args|arguments)\.__init__\(\) got an unexpected keyword)"},
    Words{"configuration_error", "AttributeError", R"('\w*Namespace' object has no attribute)"},
    Words{"configuration_error", "(?:Assertion|Value|NotImplemented|Runtime)Error",
          R"((?:^|[ '"`(])--[a-z][a-z-]+)"},
    Words{"configuration_error", "(?:Assertion|Value|NotImplemented|Runtime)Error",
          R"(\bcan(?:not|'t) (?:be )?combin|mutually exclusive|\bonly specify one\b)"},
    Words{"configuration_error", "(?:Assertion|Value|NotImplemented)Error", kRefusal, kOfTensors},
    Words{"configuration_error", "RuntimeError|Exception", kRefusal, kOfTensors, kSetting},
};

// What an exception without telling words means where it was raised.
struct AtPlace {
  ProgramPlace place;
  std::string_view cause;
  std::string_view type;         // RE2, as of Words
  std::string_view unless = {};  // RE2 of messages that say nothing of the place
};
constexpr std::array kAtPlaces = {
    AtPlace{ProgramPlace::configuration, "configuration_error",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|Index|NotImplemented|Overflow|)"
            R"(JSONDecode)Error|Exception)"},
    AtPlace{ProgramPlace::building, "configuration_error",
            R"((?:Value|Assertion|NotImplemented)Error)", kOfTensors},
    AtPlace{ProgramPlace::data, "tokenizer_or_data_missing",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|Index|EOF|OS|IO|Overflow|Lookup|)"
            R"(Unicode\w*)Error|Exception|StopIteration|error)",
            R"(\btensors?\b|\bshapes?\b|dimension|\bdtype|same device|broadcast|stack expects|)"
            R"(worker \(pid|exited unexpectedly)"},
    AtPlace{ProgramPlace::checkpoint, "checkpoint_unreadable",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|Index|EOF|OS|IO|JSONDecode|)"
            R"(FileNotFound)Error|Exception)",
            R"(' -> ')"},
    AtPlace{ProgramPlace::importing, "missing_module",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|OS)Error|Exception)"},
    AtPlace{ProgramPlace::rendezvous, "rendezvous_failure",
            R"((?:Value|Runtime|Timeout)Error|Exception)"},
};

// The tables and the head, compiled when the first exception is read.
struct Compiled {
  struct Row {
    std::unique_ptr<RE2> type, message, unless, with;
  };

  struct PlaceRow {
    std::unique_ptr<RE2> type, unless;
  };

  Compiled()
      : alone(std::string(kAlone) + std::string(kType)),
        of_logger(std::string(kOfLogger) + std::string(kType)) {
    RE2::Options any_case;
    any_case.set_case_sensitive(false);
    const auto compile = [](std::string_view text, const RE2::Options& options) {
      return text.empty() ? nullptr : std::make_unique<RE2>(std::string(text), options);
    };
    for (const Words& words : kWords) {
      Row& row = rows.emplace_back();
      row.type = compile(words.type, RE2::Options());
      row.message = compile(words.message, any_case);
      row.unless = compile(words.unless, any_case);
      row.with = compile(words.with, any_case);
    }
    for (const AtPlace& at_place : kAtPlaces) {
      place_rows.push_back(
          {compile(at_place.type, RE2::Options()), compile(at_place.unless, any_case)});
    }
  }

  RE2 alone, of_logger;
  RE2 setting = RE2("(?i)" + std::string(kSetting) + R"(|specif|\bmust\b|--)");
  RE2 data = RE2("(?i)tokeniz|vocab|data ?set|corpus|samples|sentencepiece");
  // Stand for frames that are left out, or for a worker's exception.
  RE2 stand_in = RE2("SimplifiedTraceback|UnfilteredStackTrace|_?RemoteTraceback");
  std::vector<Row> rows;
  std::vector<PlaceRow> place_rows;
};

bool holds(const re2::StringPiece& text, const std::unique_ptr<RE2>& pattern) {
  return pattern == nullptr || RE2::PartialMatch(text, *pattern);
}

// Null where the words say nothing.
const Words* find_words(const Compiled& compiled, re2::StringPiece type, re2::StringPiece message) {
  message = message.substr(0, kMessageReach);
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const Compiled::Row& row = compiled.rows[i];
    if (row.type != nullptr && !RE2::FullMatch(type, *row.type)) continue;
    if (!holds(message, row.message) || !holds(message, row.with)) continue;
    if (row.unless != nullptr && RE2::PartialMatch(message, *row.unless)) continue;
    return &kWords[i];
  }
  return nullptr;
}

const Compiled& compiled() {
  static const Compiled once;
  return once;
}

// Empty where the place says nothing of such an exception.
std::string_view cause_by_place(ProgramPlace place, re2::StringPiece type,
                                re2::StringPiece message) {
  message = message.substr(0, kMessageReach);
  for (std::size_t i = 0; i < kAtPlaces.size(); ++i) {
    const Compiled::PlaceRow& row = compiled().place_rows[i];
    if (kAtPlaces[i].place != place || !RE2::FullMatch(type, *row.type)) continue;
    if (row.unless != nullptr && RE2::PartialMatch(message, *row.unless)) continue;
    return kAtPlaces[i].cause;
  }
  return {};
}

// Whether a refusal at this place is not one of a setting: a library refuses what it computes with,
// which is the program's mistake, or a reader what it reads.
bool is_refused_as_input(ProgramPlace place, re2::StringPiece message) {
  if (place == ProgramPlace::engine) return true;
  return place == ProgramPlace::data &&
         !RE2::PartialMatch(message.substr(0, kMessageReach), compiled().setting);
}

// Whether the words tell of a file and not of which: a checkpoint is made of files, too.
bool may_be_of_any_file(const Words& words, ProgramPlace place, re2::StringPiece message) {
  if (words.type == kOfAnyFile) return true;
  return words.cause == "tokenizer_or_data_missing" && place == ProgramPlace::checkpoint &&
         !RE2::PartialMatch(message.substr(0, kMessageReach), compiled().data);
}

bool may_be_of_logger(std::string_view head) {
  constexpr std::string_view kGlogLevels = "EFI";
  if (!head.empty() && kGlogLevels.find(head.front()) != std::string_view::npos) return true;
  return std::any_of(kMarksOfLoggers.begin(), kMarksOfLoggers.end(), [&](std::string_view mark) {
    return head.find(mark) != std::string_view::npos;
  });
}

struct ExceptionParts {
  re2::StringPiece type;
  re2::StringPiece message;
};

std::optional<ExceptionParts> find_exception(std::string_view line) {
  // The type stands at the beginning, and a match costs by the length.
  const std::string_view begin = line.substr(0, kHeadReach);
  re2::StringPiece head(begin.data(), begin.size());
  re2::StringPiece type;
  re2::StringPiece dotted_type;
  if (!RE2::Consume(&head, compiled().alone, &type, &dotted_type) &&
      (!may_be_of_logger(begin) ||
       !RE2::FindAndConsume(&head, compiled().of_logger, &type, &dotted_type))) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(static_cast<std::size_t>(head.data() - line.data()));
  return ExceptionParts{type.empty() ? dotted_type : type, {rest.data(), rest.size()}};
}

}  // namespace

bool is_exception(std::string_view line) {
  const auto found = find_exception(line);
  return found && !RE2::FullMatch(found->type, compiled().stand_in);
}

std::string_view cause_of_system_error(std::string_view line) {
  constexpr std::string_view kNumber = "Error: [Errno ";
  const std::size_t at = line.find(kNumber);
  if (at == std::string_view::npos || !is_exception(line)) return {};
  return cause_of_errno(line.substr(at + kNumber.size()));
}

ExceptionVerdict judge_exception(std::string_view line, ProgramPlace place) {
  using Basis = ExceptionVerdict::Basis;
  const auto found = find_exception(line);
  if (!found) return {};
  const auto& [type, message] = *found;
  if (RE2::FullMatch(type, compiled().stand_in)) return {};
  const Words* words = find_words(compiled(), type, message);
  const std::string_view by_words = words == nullptr ? "python_exception" : words->cause;
  if (words != nullptr && may_be_of_any_file(*words, place, message)) {
    const std::string_view cause = cause_by_place(place, type, message);
    return {cause.empty() ? by_words : cause, Basis::words, by_words};
  }
  if (words != nullptr && words->message != kRefusal) return {by_words, Basis::words, by_words};
  if (words != nullptr && !is_refused_as_input(place, message)) {
    return {by_words, Basis::refusal, by_words};
  }
  const std::string_view cause = cause_by_place(place, type, message);
  return cause.empty() ? ExceptionVerdict{"python_exception", Basis::nothing, by_words}
                       : ExceptionVerdict{cause, Basis::place, by_words};
}

std::string_view cause_of_exception(std::string_view line) {
  return judge_exception(line).cause;
}

std::string_view cause_of_native_exception(std::string_view message) {
  const Words* words = find_words(compiled(), "", {message.data(), message.size()});
  return words == nullptr ? std::string_view() : words->cause;
}

}  // namespace llmb::parser
