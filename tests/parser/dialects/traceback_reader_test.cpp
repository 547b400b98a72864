// What the frames of a traceback say where the exception's own words say nothing, and which of
// several exceptions that belong together is told.
#include "parser/dialects/traceback_reader.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

const std::string kHead = "Traceback (most recent call last):\n";

std::string frame(const std::string& file, const std::string& function,
                  const std::string& source = "") {
  std::string text = "  File \"" + file + "\", line 7, in " + function + "\n";
  if (!source.empty()) text += "    " + source + "\n";
  return text;
}

// The cause, a bar, and the line that is quoted.
std::string told(const std::string& text) {
  const ParsedLog log = parse_log(text);
  const RunSummary summary = summarize_run(log.samples, log.facts, {0, 9}, false);
  const LogEvent* const failure = ending_failure(log.facts, summary);
  return summary.failure_cause + "|" + (failure == nullptr ? "" : failure->line);
}

TEST(TracebackReader, TellsTheClassByTheInnermostFrameItKnows) {
  const std::string start = kHead + frame("/w/train.py", "<module>");
  EXPECT_EQ(told(start + frame("/w/megatron/training/arguments.py", "validate_args") +
                 "AssertionError\n"),
            "configuration_error|AssertionError");
  EXPECT_EQ(told(start + frame("/w/data/blend.py", "read") + "ValueError: 'x'\n"),
            "tokenizer_or_data_missing|ValueError: 'x'");
  EXPECT_EQ(told(start + frame("/w/megatron/training/checkpointing.py", "load_checkpoint") +
                 frame("/w/x.py", "pick") + "KeyError: 'x'\n"),
            "checkpoint_unreadable|KeyError: 'x'");
  EXPECT_EQ(told(start + frame("/usr/lib/python3/site-packages/amp/__init__.py", "<module>") +
                 "AttributeError: x\n"),
            "missing_module|AttributeError: x");
  // The step that loads its batch, and the one that computes.
  EXPECT_EQ(told(start + frame("/w/trainer.py", "train_step", "batch = next(data_iterator)") +
                 "ValueError: x\n"),
            "tokenizer_or_data_missing|ValueError: x");
  EXPECT_EQ(told(start + frame("/w/dataset.py", "get_dataset") + frame("/w/m.py", "forward") +
                 "TypeError: x\n"),
            "python_exception|TypeError: x");
}

TEST(TracebackReader, LeavesTheWordsTheirSay) {
  const std::string in_data = kHead + frame("/w/dataset.py", "read");
  EXPECT_EQ(told(in_data + "OSError: [Errno 28] No space left on device\n"),
            "disk_full_or_quota|OSError: [Errno 28] No space left on device");
  EXPECT_EQ(told(in_data + "RuntimeError: tensors of unequal shapes\n"),
            "python_exception|RuntimeError: tensors of unequal shapes");
  EXPECT_EQ(told(in_data + "NameError: name 'x' is not defined\n"),
            "python_exception|NameError: name 'x' is not defined");
  // A library that refuses what it is given while it computes.
  EXPECT_EQ(told(kHead + frame("/u/torch/distributed/fsdp/_runtime_utils.py", "_lazy_init") +
                 "AssertionError: x should not have been set\n"),
            "python_exception|AssertionError: x should not have been set");
}

TEST(TracebackReader, ReadsAMessageThatBeginsOnTheNextLine) {
  EXPECT_EQ(told(kHead + frame("/w/a.py", "f") + "RuntimeError: \n\n   no space left here\n"),
            "disk_full_or_quota|no space left here");
  EXPECT_EQ(told(kHead + frame("/w/a.py", "f") + "RuntimeError: \n" + kHead +
                 frame("/w/b.py", "g") + "ValueError: x\n"),
            "python_exception|RuntimeError:");
}

TEST(TracebackReader, TellsTheFirstOfAChainUnlessALaterOneSaysMore) {
  const std::string first = kHead + frame("/w/tokenizer.py", "load") + "ValueError: 'a'\n\n";
  const std::string cause =
      "The above exception was the direct cause of the following exception:\n\n";
  const std::string then = kHead + frame("/w/main.py", "<module>");
  EXPECT_EQ(told(first + cause + then + "ValueError: b\n"),
            "tokenizer_or_data_missing|ValueError: 'a'");
  EXPECT_EQ(told(first + cause + then + "PermissionError: b\n"),
            "file_system_error|PermissionError: b");
  // Not of one chain: the first stays.
  EXPECT_EQ(told(first + then + "ValueError: b\n"), "tokenizer_or_data_missing|ValueError: 'a'");
}

TEST(TracebackReader, TellsTheWorkersExceptionRatherThanWhoWaitedForIt) {
  EXPECT_EQ(told(kHead + frame("/w/main.py", "<module>") +
                 "RuntimeError: Caught RuntimeError in DataLoader worker process 2.\nOriginal " +
                 kHead + frame("/w/shards.py", "__getitem__") + "RuntimeError: x\n"),
            "tokenizer_or_data_missing|RuntimeError: x");
  // The program's own mistake with what it was given.
  EXPECT_EQ(told(kHead + frame("/w/main.py", "<module>") +
                 "KeyError: Caught KeyError in DataLoader worker process 2.\nOriginal " + kHead +
                 frame("/w/shards.py", "__getitem__") + "KeyError: 'x'\n"),
            "python_exception|KeyError: 'x'");
  EXPECT_EQ(told(kHead + frame("/w/spawn.py", "join") +
                 "Exception: \n\n-- Process 1 terminated with the following error:\n" + kHead +
                 frame("/w/train.py", "main") + "ValueError: x\n"),
            "python_exception|ValueError: x");
}

TEST(TracebackReader, ReadsFramesBehindLabelsAndInBoxes) {
  EXPECT_EQ(told("[rank1]: " + kHead + "[rank1]: " + frame("/w/pyconfig.py", "initialize") +
                 "[rank1]: KeyError: 'x'\n"),
            "configuration_error|KeyError: 'x'");
  EXPECT_EQ(
      told("╭─── Traceback (most recent call last) ───╮\n│ /w/dataset.py:12 in build       │\n"
           "╰───╯\nValueError: 'x'\n"),
      "tokenizer_or_data_missing|ValueError: 'x'");
}

// What was only told by its place gives way to what a later line says of the run's end.
TEST(TracebackReader, GivesWayToALaterCauseThatIsSaid) {
  EXPECT_EQ(told(kHead + frame("/w/config.py", "check") + "KeyError: 'x'\n" +
                 "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n"),
            "cuda_oom|torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.");
}

// Lines of several printers, one of each in turn.
std::string in_turn(const std::vector<std::pair<std::string, std::string>>& printers) {
  std::vector<std::istringstream> texts;
  for (const auto& [prefix, text] : printers) texts.emplace_back(text);
  std::string mixed;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t i = 0; i < printers.size(); ++i) {
      std::string line;
      if (!std::getline(texts[i], line)) continue;
      mixed += printers[i].first + line + "\n";
      goes_on = true;
    }
  }
  return mixed;
}

TEST(TracebackReader, TellsRanksApartByWhatStandsBeforeTheirLines) {
  const std::string in_checkpoint = kHead + frame("/w/train.py", "<module>") +
                                    frame("/w/ckpt.py", "load_checkpoint") + frame("/w/a.py", "f") +
                                    "KeyError: 'x'\n";
  const std::string in_step = kHead + frame("/w/train.py", "<module>") +
                              frame("/w/data/blend.py", "read") + frame("/w/m.py", "forward") +
                              frame("/w/m.py", "forward") + frame("/w/m.py", "forward") +
                              "RuntimeError: NCCL communicator was aborted on rank 1.\n";
  const std::vector<std::pair<std::string, std::string>> labels = {
      {"[rank3]: ", "[rank5]: "},
      {"3: ", "5: "},
      {"[1,3]<stderr>:", "[1,5]<stderr>:"},
      {"(TrainWorker pid=3) ", "(TrainWorker pid=5) "},
      {"[default3]:", "[default5]:"},
      {"gpu-3: ", "gpu-5: "},
      {"llama-worker-3 main ", "llama-worker-5 main "},
      {"2026-01-02T03:04:05.1Z stderr F [rank3]: ", "2026-01-02T03:04:06.1Z stderr F [rank5]: "}};
  for (const auto& [one, other] : labels) {
    const std::string cause = told(in_turn({{other, in_step}, {one, in_checkpoint}}));
    EXPECT_TRUE(cause.starts_with("checkpoint_unreadable|")) << one << ": " << cause;
  }
}

// A head's first word may be a host's name or a word about the traceback: the lines below tell.
TEST(TracebackReader, KnowsAHostWithoutANumberByTheLinesBelowItsHead) {
  const std::string text =
      kHead + frame("/w/ckpt.py", "load_checkpoint") + "AssertionError: sizes differ: 4 != 8\n";
  const std::string other = kHead + frame("/w/blend.py", "read") + "KeyError: 'x'\n";
  const std::string cause = "checkpoint_unreadable|";
  EXPECT_TRUE(told(in_turn({{"node-a: ", text}})).starts_with(cause));
  EXPECT_TRUE(told(in_turn({{"alpha: ", text}, {"beta: ", other}})).starts_with(cause));
  EXPECT_TRUE(told("ERROR: " + text).starts_with(cause));
  EXPECT_TRUE(told("ERROR: " + text + "ERROR: " + other).starts_with(cause));
}

TEST(TracebackReader, GoesOnWhereOfMoreRanksThanItKeepsEachPrintsInTurn) {
  std::vector<std::pair<std::string, std::string>> printers;
  for (int rank = 0; rank < 50; ++rank) {
    printers.emplace_back("[rank" + std::to_string(rank) + "]: ",
                          kHead + frame("/w/data/blend.py", "read") + "ValueError: 'x'\n");
  }
  EXPECT_TRUE(told(in_turn(printers)).starts_with("tokenizer_or_data_missing|"));
  LogReader reader;
  reader.feed(in_turn(printers));
  EXPECT_LT(reader.save_state().size(), 20'000U);
}

TEST(TracebackReader, ReadsTheLowerHalfOfOneAtALogsBeginning) {
  const std::string half = frame("/w/ckpt.py", "load_checkpoint") + "KeyError: 'x'\n";
  EXPECT_EQ(told(half), "checkpoint_unreadable|KeyError: 'x'");
  std::string later;
  for (int i = 0; i < 100; ++i) later += "a line\n";
  EXPECT_EQ(told(later + half), "python_exception|KeyError: 'x'");
}

TEST(TracebackReader, ReadsWhatRanksSaidBelowTheExceptionThatGathersThem) {
  const std::string gathered =
      kHead + frame("/w/train.py", "save") +
      "x.api.CheckpointException: CheckpointException ranks:dict_keys([1])\n"
      "Traceback (most recent call last): (RANK 1)\n" +
      frame("/w/filesystem.py", "write_item");
  EXPECT_TRUE(told(gathered + "OSError: [Errno 122] x\n").starts_with("disk_full_or_quota|"));
}

TEST(TracebackReader, ReadsOneThatALoggerPutIntoAString) {
  const std::string begin = R"({"ts":"2026-01-30T09:04:52Z","msg":"uncaught","exc":")";
  const std::string frames = R"(Traceback (most recent call last):\n)"
                             R"(  File \"/w/train.py\", line 4, in main\n    run(\"a\")\n)";
  EXPECT_EQ(told(begin + frames + R"(ZeroDivisionError: division by zero"})" + "\n"),
            "python_exception|ZeroDivisionError: division by zero");
  EXPECT_EQ(told(begin + frames + R"(RuntimeError: CUDA error: out of memory\n","rank":3})" + "\n")
                .substr(0, 9),
            "cuda_oom|");
  EXPECT_EQ(told(begin + R"(Traceback (most recent call last):\n"})" + "\n").substr(0, 17),
            "python_traceback|");
}

TEST(TracebackReader, LeavesOutWhatPythonIgnores) {
  const std::string ignored = "Exception ignored in: <function Pool.__del__ at 0x7f>\n" + kHead +
                              frame("/w/pool.py", "__del__");
  EXPECT_EQ(told(ignored + "TypeError: x\n"), "|");
  EXPECT_EQ(told(ignored + "TypeError: x\n" + kHead + frame("/w/x.py", "f") + "KeyError: 'x'\n"),
            "python_exception|KeyError: 'x'");
  // Words that name a class tell what could not be had.
  EXPECT_EQ(told(ignored + "ModuleNotFoundError: No module named 'x'\n"),
            "missing_module|ModuleNotFoundError: No module named 'x'");
}

TEST(TracebackReader, TakesOffWhatALoggerPutsBeforeEveryLine) {
  const std::string text = kHead + frame("/w/ckpt.py", "load_checkpoint") + "KeyError: 'x'\n";
  const std::string logged =
      in_turn({{"ERROR 08-12 11:56:08 [core.py:633] ", text}, {"ERROR 08-12 11:56:09 ", ""}});
  EXPECT_TRUE(told(logged).starts_with("checkpoint_unreadable|")) << told(logged);
}

TEST(TracebackReader, AsksForAFileByTryingAndTellsWhatThenFailed) {
  const std::string absent = kHead + frame("/u/pathlib.py", "mkdir") +
                             "FileNotFoundError: [Errno 2] No such file or directory: '/x/y'\n\n";
  const std::string denied = "PermissionError: [Errno 13] Permission denied: '/x'";
  const std::string during =
      "During handling of the above exception, another exception occurred:\n\n";
  const std::string then = kHead + frame("/w/log.py", "setup") + denied + "\n";
  EXPECT_EQ(told(absent + during + then), "file_system_error|" + denied);
  // Raised because of it, or by a program that failed over it.
  EXPECT_EQ(told(absent +
                 "The above exception was the direct cause of the following exception:\n\n" + then),
            "tokenizer_or_data_missing|FileNotFoundError: [Errno 2] No such file or directory: "
            "'/x/y'");
  EXPECT_EQ(told(absent + during + kHead + frame("/w/a.py", "f") + "KeyError: 'x'\n"),
            "tokenizer_or_data_missing|FileNotFoundError: [Errno 2] No such file or directory: "
            "'/x/y'");
}

TEST(TracebackReader, QuotesWhatAHubSaysBehindTheNumberOfARequest) {
  EXPECT_EQ(told(kHead + frame("/w/t.py", "build") +
                 "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1)\n"
                 "\nCannot access gated repo for url https://hub.example/x.\n"),
            "hf_authentication|Cannot access gated repo for url https://hub.example/x.");
}

TEST(TracebackReader, QuotesWhatAHubSaysRatherThanTheRequest) {
  EXPECT_EQ(told(kHead + frame("/w/http.py", "raise_for_status") +
                 "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: "
                 "https://hub.example/x\n\nThe above exception was the direct cause of the "
                 "following exception:\n\n" +
                 kHead + frame("/w/hub.py", "hf_raise_for_status") +
                 "huggingface_hub.errors.GatedRepoError: 401 Client Error.\n"),
            "hf_authentication|huggingface_hub.errors.GatedRepoError: 401 Client Error.");
  const std::string cause =
      "\nThe above exception was the direct cause of the following exception:\n\n";
  const std::string limited =
      kHead + frame("/w/http.py", "raise_for_status") +
      "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: x\n" + cause +
      kHead + frame("/w/hub.py", "hf_raise_for_status") +
      "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: x\n";
  EXPECT_EQ(told(limited),
            "hf_unreachable|huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many "
            "Requests for url: x");
  // What the program says of it then tells less.
  EXPECT_EQ(told(limited + cause + kHead + frame("/w/t.py", "load") +
                 "OSError: We couldn't connect to 'https://huggingface.co' to load the files.\n"),
            "hf_unreachable|huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many "
            "Requests for url: x");
}

// The next rank's own failure is the cause, and what was caught only a warning.
TEST(TracebackReader, BelievesWhoSaysAtOnceThatTheProgramGoesOn) {
  const std::string caught = "1: " + kHead + "1: " + frame("/w/load.py", "load") +
                             "1: LocalEntryNotFoundError: cannot find the files\n";
  const std::string later = "0: RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n";
  const std::string goes_on = "1: attempt 1 of 3 failed, waiting 5 s\n";
  EXPECT_TRUE(told(caught + later).starts_with("hf_unreachable|"));
  EXPECT_TRUE(told(caught + goes_on + later).starts_with("cuda_oom|"));
  EXPECT_TRUE(told(caught + "1: it is time\n" + goes_on + later).starts_with("cuda_oom|"));
  EXPECT_EQ(told(caught + goes_on), "|");
  EXPECT_EQ(told(caught + goes_on + "srun: error: n1: task 1: Exited with exit code 1\n"),
            "hf_unreachable|attempt 1 of 3 failed, waiting 5 s");
  // Of another printer, or of later.
  EXPECT_TRUE(told(caught + "2: retrying\n" + later).starts_with("hf_unreachable|"));
  EXPECT_TRUE(
      told(caught + "1: it is time\n1: it is late\n" + goes_on + later).starts_with("hf_unr"));
}

TEST(TracebackReader, FollowsAPrinterWhosePrefixEndsInAColon) {
  const std::string prefix = "<gpu7>:";
  EXPECT_EQ(told(prefix + kHead + prefix + frame("/w/m.py", "forward") + prefix +
                 "TypeError: asdict() should be called on dataclass instances\n"),
            "python_exception|<gpu7>:TypeError: asdict() should be called on dataclass instances");
}

}  // namespace
}  // namespace llmb::parser
