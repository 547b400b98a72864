// The tables of exception_cause.cpp: what an exception's type and words tell, and what the place
// where it was raised does where they leave it open. Not searched for in lines: of the last line of
// a traceback only.
#pragma once

#include <array>
#include <string_view>

#include "parser/dialects/program_place.h"

namespace llmb::parser {

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

// A message that refuses a setting.
inline constexpr std::string_view kRefusal =
    R"(\bno .{0,60} (?:is|are) available|\bno .{0,60}\b(?:support|specified)\b|)"
    R"(\b(?:must|should|ha(?:s|ve) to|)"
    R"(needs? to) (?:not )?(?:be|have|lie|match|equal|divide|specif|)"
    R"(provide|use|set|contain|include)|\bcan(?:not|'t| not) (?:be )?(?:use|set|specif|combin|mix|)"
    R"(enabl|have|shard|split)|\bonly (?:be )?(?:support|implement|available|allow|)"
    R"(specif|use|set|works? with|one )"
    R"(of|valid)|(?:\bnot|n't)(?: yet| currently| be)? (?:support|implement|allow|compatib|)"
    R"(available|recogni[sz]|permit|divisible|a multiple|equal|match|exist|set\b|specified|given|)"
    R"(provided|)"
    R"(configured|defined)|\bunsupported\b|\b(?:is|are) required\b|\brequires? |\bconflict|)"
    R"(mutually exclusive|\bincompatible|\binconsistent|\binvalid (?:value|choice|option|arg|)"
    R"(config|parallel|setting)|\b(?:unknown|undefined) |\bunrecogni[sz]ed |divisible by|)"
    R"(multiple of|\bis for \w+ only\b|)"
    R"(\b(?:less|greater|larger|smaller|more|fewer|bigger) than\b|\bexceed|\btoo (?:large|small|)"
    R"(many|few|big|long)\b|\bplease (?:set|specify|provide|select|choose|correct|)"
    R"(enable|disable|ensure|make sure)|\b(?:config\w*|argument)s?\b.*\bmismatch|)"
    R"(\bmake sure (?:that )?--)";

// A message about what the program computes with, rather than about how it was set up.
inline constexpr std::string_view kOfTensors =
    R"(\btensors?(?: (?:[^pm]|m[^o]|p[^a])|[^ a-z_-]|$)|\bshapes?\b|dimension|\bdtype|)"
    R"(broadcast|operand|input_ids|attention.?mask|)"
    R"(unpack|\bconvert|out of (?:range|bounds)|aten::|\bsame device|inplace|backward|\biterat)";

// What a program is set up with.
inline constexpr std::string_view kSetting =
    R"(parallel|batch|world.?size|pipeline|expert|\bnum_|\bmax_|seq|layers|heads|config|setting|)"
    R"(argument|option|flag|recipe|precision|fp8|fp16|bf16|\bgpus?\b|\bnodes\b|\branks\b|)"
    R"(environment variable|attention)";

// Exceptions that tell of a file and not of which: where they were raised tells that.
inline constexpr std::string_view kOfAnyFile = "JSONDecodeError|FileNotFoundError";

// A message of a module that lacks what is asked of it.
inline constexpr std::string_view kLacksName = R"(^module '[\w.]+' has no attribute)";

// In the order in which a reader would ask: memory, numbers, modules, the others, the device, the
// hub, the checkpoint, files, the configuration.
inline constexpr std::array kWords = {
    Words{"host_oom_kill", R"(_?(?:Array|Arrow)?MemoryError|ObjectStoreFullError)", ""},
    Words{"host_oom_kill", "",
          R"(DefaultCPUAllocator|)"
          R"(can(?:'t|not) allocate memory|host memory)"},
    Words{"cuda_oom", "",
          R"(\b(?:not enough|insufficient|out of) (?:\w+ )?memory|out_of_device_memory|)"
          R"(\b(?:larger|more|less) than .{0,40}\bmemory\b)"},
    Words{"cuda_oom", "ResourceExhaustedError|(?:Xla|Jax)RuntimeError",
          R"(\boom when allocating|failed to allocate \d)"},

    Words{"nan_gradient", "",
          R"(\bgrad.*\b(?:nan|inf|non-?finite|not finite)\b|)"
          R"(\b(?:nan|inf|non-?finite)\b.*\bgrad|loss scale|returned nan)"},
    Words{"nan_loss", "",
          R"((?:\bloss|value|tensor|logits|activation).*)"
          R"(\b(?:nan|inf|non-?finite|not finite|infinite)\b|)"
          R"(\b(?:nan|non-?finite|infinite)\b.*\bloss\b)"},

    Words{"missing_module",
          R"(ModuleNotFoundError|ImportError|DistributionNotFound|)"
          R"(VersionConflict|PackageNotFoundError|MissingCUDAException|PTXASError)",
          ""},
    Words{"missing_module", "",
          R"(failed to import|no module named|cannot import|\bnot installed\b|)"
          R"(\bptxas error\b|please (?:re)?(?:install|upgrade|update|downgrade)|\bpip3? install|)"
          R"(^operator [\w:]+ does not exist|undefined (?:symbol|reference)|shared object|)"
          R"(\blib[\w+-]+\.so[\w.]*\b.{0,40}(?:not|n't) .{0,12}(?:found|load|open)|)"
          R"(\bglibc|cuda_home|)"
          R"(compiling objects|building extension|binary incompatib|)"
          R"(compiled (?:against|with|for) (?:a )?different|c(?:\+\+)? compiler)"},
    Words{"missing_module", "",
          R"(\bversions?\b.*(?:required|supported|incompatib|mismatch|too old|or (?:higher|newer|)"
          R"(later|above|greater|older|lower)|but)|)"
          R"((?:require|need|support)s?\b.*\b(?:versions?\b|[a-z][\w.-]+ ?[<>=~]=? ?v?\d+\.\d))",
          R"(checkpoint|compute capability|\bampere\b)"},
    Words{"missing_module", "",
          R"(\bjit load|\bhave (?:nccl|mpi|ucc|gloo) built|)"
          R"(\bversions? (?:[\w.]+ )?(?:do(?:es)? not|don't|doesn't) match)"},
    Words{"missing_module", "AttributeError", kLacksName},
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
    Words{"hf_unreachable", "", R"(\bcas service error)"},
    // The store went away in the middle of a talk: with the rank that held it.
    Words{"peer_lost", "Dist(?:Store|Network|Backend)?Error",
          R"(failed to recv|got 0 bytes|broken pipe|reset by peer|was likely closed)",
          R"(\bconnect to\b|listen|refused)"},
    Words{"rendezvous_failure", "Dist(?:Store|Network)Error", ""},
    Words{"rendezvous_failure", "",
          R"(env:// rendezvous|\bwait timeout after|\bmaster_(?:addr|port)\b|)"
          R"(failed to connect to all addresses)"},
    Words{"rendezvous_failure", "ConnectionRefusedError|ConnectionTimeoutError", ""},
    Words{"rendezvous_failure", "",
          R"(\b(?:connect|socket|(?:tcp)?store|rendezvous|coordinator)\w*\b.{0,60})"
          R"(\b(?:timed? ?out|refused|unreachable))"},
    Words{"file_limit", "",
          R"(resource temporarily unavailable|too many open files|\bcreate (?:a |new )*thread)"},

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
    Words{"cuda_error", "",
          R"(\binvalid device pointer\b|\bno (?:valid (?:engine|execution)|execution plan)|)"
          R"(\bunable to find an engine\b)"},
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
    Words{"checkpoint_unreadable", "",
          R"(\bmismatch:? checkpoint\b|\bnot compatible with the stored\b)"},
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
    Words{"tokenizer_or_data_missing", "ClientError", R"(\((?:404|NoSuchKey|NoSuchBucket)\))"},
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
          R"(\binvalid [\w ]*\bdirector(?:y|ies)\b|)"
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
          R"(\b\w*(?:config\w*|args|arguments)\.__init__\(\) got an unexpected keyword)"},
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
inline constexpr std::array kAtPlaces = {
    AtPlace{ProgramPlace::configuration, "configuration_error",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|Index|NotImplemented|Overflow|)"
            R"(JSONDecode)Error|Exception)"},
    AtPlace{ProgramPlace::building, "configuration_error",
            R"((?:Value|Assertion|NotImplemented)Error)", kOfTensors},
    AtPlace{ProgramPlace::data, "tokenizer_or_data_missing",
            R"((?:Value|Assertion|Runtime|EOF|OS|IO|Overflow|Lookup|)"
            R"(Unicode\w*)Error|Exception|StopIteration|error)",
            R"(\btensors?\b|\bshapes?\b|dimension|\bdtype|same device|broadcast|stack expects|)"
            R"(expected sequence of length|worker \(pid|exited unexpectedly)"},
    AtPlace{ProgramPlace::checkpoint, "checkpoint_unreadable",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|Index|EOF|OS|IO|JSONDecode|)"
            R"(FileNotFound)Error|Exception)",
            R"(' -> ')"},
    AtPlace{ProgramPlace::importing, "missing_module",
            R"((?:Value|Assertion|Runtime|Type|Key|Attribute|OS)Error|Exception)"},
    AtPlace{ProgramPlace::rendezvous, "rendezvous_failure",
            R"((?:Value|Runtime|Timeout)Error|Exception)"},
};

}  // namespace llmb::parser
