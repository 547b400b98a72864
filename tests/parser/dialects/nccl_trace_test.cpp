#include "parser/dialects/nccl_trace.h"

#include <gtest/gtest.h>

#include <random>

#include "log_samples.h"
#include "parser/dialects/nccl_line.h"

namespace llmb::parser {
namespace {

using Outcome = NcclTraceReader::Outcome;

const std::string kSend =
    "ubuntu:199574:201142 [1] NCCL INFO Send: opCount d60 sendbuff 0x7f505e93c000 recvbuff (nil) "
    "count 2420736 datatype 7 op 0 root 1 comm 0x7f5128002e10 [nranks=2] stream 0x55f1de727ae0";

std::string call(std::string_view operation, std::int64_t count, std::string_view communicator,
                 std::string_view process = "n1:10:11") {
  return std::string(process) + " [0] NCCL INFO " + std::string(operation) +
         ": opCount a sendbuff 0x1 recvbuff 0x2 count " + std::to_string(count) +
         " datatype 9 op 0 root 0 comm " + std::string(communicator) + " [nranks=8] stream 0x5";
}

TEST(NcclCall, IsReadFromItsLine) {
  const auto call = read_nccl_call(kSend);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->operation, "Send");
  EXPECT_EQ(call->op_count, 0xd60U);
  EXPECT_EQ(call->element_count, 2'420'736);
  EXPECT_EQ(call->datatype, 7);
  EXPECT_EQ(call->rank_count, 2);
  EXPECT_EQ(call->communicator, "0x7f5128002e10");
  EXPECT_EQ(call->process, "ubuntu:199574:201142 [1] ");
  EXPECT_EQ(call->rest, "");
}

TEST(NcclCall, IsReadWithoutAHostAndWithRcclsAdditions) {
  EXPECT_EQ(read_nccl_call("[7] NCCL INFO AllReduce: opCount 2 sendbuff 0x7ff recvbuff 0x7ff count "
                           "1 datatype 1 op 0 root 0 comm 0x55 [nranks=128] stream 0x5")
                ->rank_count,
            128);
  const auto rccl = read_nccl_call(
      "h:1:2 [0] NCCL INFO AllReduce: opCount 2 sendbuff 0x7 recvbuff 0x7 acc (nil) count 64 "
      "datatype 9 op 0 root 0 comm 0x55 [nranks=8] stream 0x5 task 0 globalrank 3");
  ASSERT_TRUE(rccl.has_value());
  EXPECT_EQ(rccl->rest, "");
}

TEST(NcclCall, IsNothingWhereTheLineIsTornAnywhere) {
  EXPECT_FALSE(read_nccl_call("NCCL INFO Bootstrap: Using eth0").has_value());
  EXPECT_FALSE(read_nccl_call("a: opCount 1 sendbuff 0x1").has_value());
  // Up to the stream, whose value nobody needs: any digit will do.
  const std::size_t needed = kSend.find(" stream ") + 8;
  for (std::size_t length = 0; length <= needed; ++length) {
    EXPECT_FALSE(read_nccl_call(kSend.substr(0, length)).has_value()) << length;
  }
}

TEST(NcclTraceReader, AddsUpBySizeAndOperation) {
  NcclTraceReader reader;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(reader.read(call("AllReduce", 1024, "0xa")), Outcome::whole);
  EXPECT_EQ(reader.read(call("AllReduce", 1024, "0xb")), Outcome::whole);
  EXPECT_EQ(reader.read(call("AllReduce", 1024, "0xa", "n2:10:11")), Outcome::whole);
  EXPECT_EQ(reader.read(call("AllReduce", 1024, "0xa", "n1:10:99")),
            Outcome::whole);  // another thread
  EXPECT_EQ(reader.read(call("AllGather", 512, "0xa")), Outcome::whole);
  const NcclTrace trace = reader.take_snapshot();
  ASSERT_EQ(trace.uses.size(), 2U);
  EXPECT_EQ(trace.uses[0].operation, "AllGather");
  EXPECT_EQ(trace.uses[1].calls, 6);
  EXPECT_EQ(trace.uses[1].communicator_count, 3);
  EXPECT_TRUE(trace.uses[1].communicators_are_complete);
  EXPECT_EQ(bytes_per_call(trace.uses[1]), 2048);
  EXPECT_EQ(trace.torn_lines, 0);
}

TEST(NcclTraceReader, CountsTornLinesAndKeepsWhatIsWholeOnThem) {
  NcclTraceReader reader;
  EXPECT_EQ(reader.read(kSend.substr(0, 90) + kSend), Outcome::torn);  // one was cut, one is whole
  EXPECT_EQ(reader.read(kSend + kSend), Outcome::torn);                // glued
  EXPECT_EQ(reader.read(kSend.substr(0, 90)), Outcome::torn);
  EXPECT_EQ(reader.read("unrelated: opCount 3"), Outcome::no_trace);  // no trace
  const NcclTrace trace = reader.take_snapshot();
  EXPECT_EQ(trace.torn_lines, 3);
  ASSERT_EQ(trace.uses.size(), 1U);
  EXPECT_EQ(trace.uses[0].calls, 3);
}

// A stamp is another on each line; the process is the same.
TEST(NcclTraceReader, KnowsTheProcessBehindLabelsThatNobodyKnows) {
  NcclTraceReader reader;
  for (const std::string label : {"", "INFO ", "alpha: ", "2026-01-02T03:04:05+0000 ",
                                  "2026-01-02T03:04:06+0000 ", "2026-01-02T03:04:07Z ", "\t"}) {
    const std::string line = label + call("AllReduce", 1, "0xa") + "\n";
    EXPECT_EQ(reader.read_run(line), line.size()) << label;
  }
  const NcclTrace trace = reader.take_snapshot();
  EXPECT_EQ(trace.torn_lines, 0);
  EXPECT_EQ(trace.uses.at(0).communicator_count, 1);
  EXPECT_TRUE(trace.uses.at(0).communicators_are_complete);
}

// A stamp is no part of it.
TEST(NcclTraceReader, KnowsTheProcessOfARankBehindAStamp) {
  const std::string whole = call("AllReduce", 1, "0xa");
  NcclTraceReader reader;
  for (int i = 0; i < 100; ++i) {
    const std::string stamp = "2026-12-01T03:04:05." + std::to_string(100 + i) + "Z ";
    reader.read(stamp + "[" + std::to_string(i % 2) + "] " + whole.substr(whole.find("NCCL INFO")));
  }
  const NcclTrace trace = reader.take_snapshot();
  ASSERT_EQ(trace.uses.size(), 1U);
  EXPECT_EQ(trace.uses[0].communicator_count, 2);
  EXPECT_TRUE(trace.uses[0].communicators_are_complete);
}

TEST(NcclTraceReader, SaysThatItCannotTellWhoseACommunicatorIs) {
  NcclTraceReader reader;
  EXPECT_EQ(reader.read("some words " + call("AllReduce", 1, "0xa")), Outcome::torn);
  NcclTrace trace = reader.take_snapshot();
  EXPECT_EQ(trace.uses.at(0).communicator_count, 0);
  EXPECT_FALSE(trace.uses.at(0).communicators_are_complete);
  EXPECT_EQ(reader.read(call("AllReduce", 1, "0xa")), Outcome::whole);
  trace = reader.take_snapshot();
  EXPECT_EQ(trace.uses.at(0).communicator_count, 1);  // the others are counted as before
  EXPECT_FALSE(trace.uses.at(0).communicators_are_complete);
}

TEST(NcclTraceReader, StaysBounded) {
  NcclTraceReader reader;
  for (int i = 0; i < 1000; ++i) reader.read(call("AllReduce", i, "0xa"));
  NcclTrace trace = reader.take_snapshot();
  EXPECT_EQ(trace.uses.size(), kNcclUsesMax);
  EXPECT_EQ(trace.other_calls, 1000 - static_cast<std::int64_t>(kNcclUsesMax));
  std::int64_t other_bytes = 0;
  for (std::int64_t i = kNcclUsesMax; i < 1000; ++i) other_bytes += 2 * i;
  EXPECT_EQ(trace.other_bytes, other_bytes);

  NcclTraceReader many;
  for (int i = 0; i < 1000; ++i) many.read(call("AllReduce", 1, "0x" + std::to_string(i)));
  trace = many.take_snapshot();
  EXPECT_EQ(trace.uses[0].calls, 1000);
  EXPECT_LT(trace.uses[0].communicator_count, 1000);
  EXPECT_FALSE(trace.uses[0].communicators_are_complete);
}

TEST(NcclTraceReader, GoesOnWhereItWasSaved) {
  NcclTraceReader reader;
  for (int i = 0; i < 400; ++i) {
    reader.read(
        call(i % 2 == 0 ? "AllReduce" : "ReduceScatter", i % 300, "0x" + std::to_string(i)));
    StateWriter state;
    reader.save(state);
    const std::string text = state.take();
    StateReader saved(text);
    NcclTraceReader restored;
    restored.restore(saved);
    EXPECT_FALSE(saved.failed());
    EXPECT_TRUE(saved.at_end());
    EXPECT_EQ(restored.take_snapshot(), reader.take_snapshot());
    reader = std::move(restored);
  }
}

// Lines in a run are read in one go; that must not show, whatever happened to some of them.
TEST(NcclTraceReader, ReadsARunAsItReadsItsLines) {
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    std::string log;
    NcclTraceReader by_line;
    for (int i = 0; i < 6000; ++i) {
      std::string line = call(i % 2 == 0 ? "AllReduce" : "AllGather", 1 << (i % 5),
                              "0x7f5128002e10", i % 3 == 0 ? "n1:10:11" : "n1:12:13");
      const auto damage = random() % 24;
      if (damage == 0) line[random() % line.size()] = "x ]0:\x80N"[random() % 7];
      if (damage == 1) line.erase(random() % line.size(), random() % 4);
      if (damage == 2) line.insert(random() % line.size(), kSend.substr(0, random() % 90));
      if (damage == 3) line.insert(random() % line.size(), "NCCL INFO : opCount ");
      if (damage == 4) line += "\x1b[0m";
      if (damage == 5) line.erase(0, random() % 12);
      if (damage == 6) line.clear();
      by_line.read(line);
      log += line + (random() % 9 == 0 ? "\r\n" : "\n");
    }
    NcclTraceReader by_run;
    std::size_t taken = 0;
    for (std::string_view rest = log; !rest.empty();) {
      const std::size_t length = by_run.read_run(rest);
      ASSERT_TRUE(length == 0 || rest[length - 1] == '\n' || rest[length - 1] == '\r');
      taken += length;
      rest.remove_prefix(length);
      const std::size_t end = rest.find_first_of("\r\n");
      if (end == std::string_view::npos) break;
      by_run.read(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    EXPECT_GT(taken, log.size() / 2);
    EXPECT_EQ(by_run.take_snapshot(), by_line.take_snapshot());
  }
}

// Ranks that take turns, stamps, lengths that change, spellings that are rare, and lines that
// differ from the known ones in one byte.
TEST(NcclTraceReader, KnownLinesCountAsNewOnes) {
  std::mt19937 random(6);
  const auto pick = [&](auto... choices) {
    const std::string all[] = {choices...};
    return all[random() % sizeof...(choices)];
  };
  // Of one form, of a few, and of any length.
  const auto stamp = [&](int forms) {
    const std::string instant = "2026-12-01T03:04:" + std::to_string(10 + random() % 50);
    const std::string fraction = std::to_string(random() % (forms == 3 ? 900'000'000 : 900'000));
    if (forms == 1) return instant + "." + std::to_string(10 + random() % 90) + "Z ";
    return pick(instant + "." + fraction + "Z ", instant + "Z stdout F ", "[" + instant + "] ",
                "[" + instant + "," + fraction + "] ");
  };
  for (int round = 0; round < 8; ++round) {
    const std::vector<std::string> prefixes = {"",
                                               "[7] ",
                                               " 3: [3] ",
                                               "n1:10:11 [0] ",
                                               "n1:10:11 [1] ",
                                               "a-long-name-of-a-host-01:7:8 [0] ",
                                               std::string(90, 'h') + ":1:2 [0] ",
                                               std::string(96, 'h') + " [5] ",
                                               "h\xc3\xb6st:1:2 [0] "};
    const int sizes = round < 4 ? 7 : 700;  // more than can be told apart
    std::string log;
    NcclTraceReader by_line;
    for (int i = 0; i < 9000; ++i) {
      const auto hex = [&](const char* format, std::size_t value) {
        char text[32];
        std::snprintf(text, sizeof text, format, value);
        return std::string(text);
      };
      std::string line =
          (round % 4 == 0 ? "" : stamp(round % 4)) +
          prefixes[random() % (round % 2 == 0 ? 3 : prefixes.size())] + "NCCL INFO " +
          pick("AllReduce", "AllGather", "Send") + ": opCount " +
          (random() % 40 == 0 ? "1" + hex("%016zx", random())  // more digits than a counter has
                              : hex("%zx", random() >> (random() % 32))) +
          " sendbuff " + (random() % 9 == 0 ? "(nil)" : hex("0x7f%010zx", random())) +
          " recvbuff " + (random() % 9 == 0 ? hex("%zx", random()) : hex("0x%zx", random() | 1)) +
          (round == 3 ? hex(" acc 0x%012zx", random()) : "") + " count " +
          std::to_string(random() % static_cast<unsigned>(sizes)) +
          " datatype 7 op 0 root 0 comm " + pick("0x55e290bd32d0", "0x55e290bd3d20", "0x2a5c3d0") +
          pick("", " [nranks=8]", " [nranks=16]") + " stream " +
          hex("0x%zx", random() >> (random() % 32)) + (round == 3 ? " task 0 globalrank 3" : "");
      if (random() % 12 == 0) line[random() % line.size()] = "x ]0g:\x80\0"[random() % 8];
      by_line.read(line);
      log += line + pick("\n", "\n", "\n", "\r\n", "\r");
    }
    log += "\n";
    NcclTraceReader by_run;
    // In parts of a few lines, as blocks of a log end anywhere.
    for (std::string_view rest = log; !rest.empty();) {
      const std::size_t last = rest.find('\n', random() % 4000);
      std::string_view part = rest.substr(0, last == std::string_view::npos ? last : last + 1);
      rest.remove_prefix(part.size());
      while (!part.empty()) {
        part.remove_prefix(by_run.read_run(part));
        const std::size_t end = part.find_first_of("\r\n");
        if (end == std::string_view::npos) break;
        by_run.read(part.substr(0, end));
        part.remove_prefix(end + 1);
      }
    }
    EXPECT_EQ(by_run.take_snapshot(), by_line.take_snapshot()) << "round " << round;
  }
}

// The documents' own line has no host before it: it is read in a run as others are.
TEST(NcclTraceReader, ReadsARunWhateverStandsBeforeItsLines) {
  for (const std::string prefix :
       {"", "[7] ", "7: [7] ", "[71] ", "node-7:4711:4712 [7] ",
        "[2026-12-01 03:04:05] n7:4:5 [7] ", "2026-12-01T03:04:05.123456789Z stdout F [7] "}) {
    std::string log;
    NcclTraceReader by_line;
    for (int i = 0; i < 300; ++i) {
      std::string own = prefix;
      if (i % 2 == 1 && !prefix.empty()) own.insert(prefix.rfind('[') + 1, "1");
      if (const auto seconds = own.find(":05"); seconds != std::string::npos) {
        own.replace(seconds + 1, 2, std::to_string(10 + i / 10));
      }
      const std::string whole =
          call(i % 2 == 0 ? "AllReduce" : "AllGather", 1 << (i % 5), "0x7f51");
      const std::string line = own + whole.substr(whole.find("NCCL INFO"));
      by_line.read(line);
      log += line + "\n";
    }
    NcclTraceReader by_run;
    EXPECT_EQ(by_run.read_run(log), log.size()) << prefix;
    EXPECT_EQ(by_run.take_snapshot(), by_line.take_snapshot()) << prefix;
  }
}

TEST(NcclLine, TellsALabelFromOtherWords) {
  for (const std::string_view label : {"",
                                       "[7] ",
                                       "n1:10:11 [0] ",
                                       "h\xc3\xb6st:1:2 [0] ",
                                       " 3: [3] ",
                                       "13: n-1:10:11 [3] ",
                                       "[default3]:[3] ",
                                       "[rank3]: n1:1:2 [3] ",
                                       "(RayTrainWorker pid=615) n1:1:2 [3] ",
                                       "2026-01-02T03:04:05.1Z n1:1:2 [3] ",
                                       "[2026-01-02 03:04:05] n1:1:2 [3] ",
                                       "[1,7]<stdout>:n1:1:2 [7] ",
                                       "node-7: n1:1:2 [7] ",
                                       "worker-1  | [7] ",
                                       "\x1b[36m[7] ",
                                       "0:  [0] ",
                                       "INFO n1:1:2 [7] ",
                                       "alpha: n1:1:2 [7] ",
                                       "10.0.0.7: n1:1:2 [7] ",
                                       "[1,mpirank:0,algo-1]<stdout>:n1:1:2 [7] ",
                                       "[1,0]<stdout> :n1:1:2 [7] ",
                                       "2026-01-02T03:04:05+0000 n1:1:2 [7] ",
                                       "Nov 20 12:01:31 hexa03 python: n1:1:2 [7] ",
                                       "\tn1:1:2 [7] "}) {
    EXPECT_TRUE(is_nccl_label(label)) << label;
  }
  for (const std::string_view words :
       {"Training epoch 0, iteration 1/49 | train_step_timing in s: 5.2[7] ",
        "train_step_timing in s: 5.2node7:1:2 [7] ", "Out Of Memory", "srun: error: n1:1:2 [7] ",
        "[7] nan[7] ", "n1:10 [0] ", "n1:10:11 [0]", "n1:10:11 [] ", "node7: task 3: Killed[7] ",
        "Killed n1:1:2 [7] ", "RuntimeError: n1:1:2 [7] ", "SIGKILL: n1:1:2 [7] ",
        "Traceback (most recent call last): n1:1:2 [7] ", "iteration 1/49 | n1:1:2 [7] ",
        "loss: n1:1:2 [7] ", "50%|## | 5/10 [00:10<00:10, 2.1s/it] n1:1:2 [7] ",
        "in s: 5.2node7:1:2 [7] ", "2 MiBnode7:1:2 [7] ", "some words n1:1:2 [7] "}) {
    EXPECT_FALSE(is_nccl_label(words)) << words;
  }
}

TEST(NcclLine, GivesTheWordsOfOthers) {
  const std::string bare = kSend.substr(kSend.find("NCCL INFO"));
  EXPECT_EQ(without_nccl_calls("it took 5.2[7] " + bare), "it took 5.2");
  EXPECT_EQ(without_nccl_calls("it took 5.2node7:1:2 [7] " + bare), "it took 5.2");
  EXPECT_EQ(without_nccl_calls("it took 5e-05eos-7:1:2 [7] " + bare), "it took 5e-05");
  EXPECT_EQ(without_nccl_calls("2 MiBnode7:1:2 [7] " + bare), "2 MiBnode7");
  EXPECT_EQ(without_nccl_calls("13: " + kSend + "it took 5.2"), "it took 5.2");
  EXPECT_EQ(without_nccl_calls("a | b: 2[7] " + bare + " | c: 3" + kSend), "a | b: 2 | c: 3");
  EXPECT_EQ(without_nccl_calls(kSend + kSend), "");
  EXPECT_EQ(without_nccl_calls("it took 7.31e3node:1:2 [7] " + bare), "it took 7.31");
  EXPECT_EQ(without_nccl_calls("it took 7.31e+03node:1:2 [7] " + bare), "it took 7.31e+03");
  EXPECT_EQ(without_nccl_calls("nothing: opCount of it"), "nothing: opCount of it");
}

// Wherever it was cut, so long as its label is whole.
TEST(NcclLine, TakesOffACallThatIsCutAtTheEnd) {
  const std::string words = "torch.OutOfMemoryError: CUDA out of memory. ";
  const std::size_t first = kSend.find(": opCount ") + std::string_view(": opCount ").size();
  for (std::size_t length = first; length <= kSend.size(); ++length) {
    const std::string cut = kSend.substr(0, length);
    EXPECT_EQ(without_nccl_calls(cut), "") << length;
    EXPECT_EQ(without_nccl_calls(words + cut), words + "ubuntu") << length;
    EXPECT_EQ(without_nccl_calls(words + cut + kSend), words + "ubuntu") << length;
  }
  const std::string other = kSend.substr(0, 90) + "Training epoch 0, iteration 1/9";
  EXPECT_EQ(without_nccl_calls(other), other);
  const std::string mixed = "NCCL INFO Send: opCount 3 was the last";
  EXPECT_EQ(without_nccl_calls(mixed), mixed);
}

TEST(NcclTrace, LeavesTheFailureThatACutCallIsGluedTo) {
  const ParsedLog log = parse_log(
      "torch.OutOfMemoryError: CUDA out of memory. node7:1:2 [0] NCCL INFO AllReduce: opCount 1 "
      "sendb\n");
  ASSERT_EQ(log.facts.events.size(), 1U);
  EXPECT_EQ(log.facts.events[0].cause, "cuda_oom");
}

// ENABLE_NCCLTRACE: all ranks write into the log that the steps are in.
TEST(NcclTrace, LeavesTheWordsThatItIsGluedTo) {
  const std::string bare = "[7] " + kSend.substr(kSend.find("NCCL INFO"));
  const auto step = [](int iteration) {
    return "Training epoch 0, iteration " + std::to_string(iteration) +
           "/9 | lr: 1e-4 | reduced_train_loss: 2.5 | train_step_timing in s: 5.25";
  };
  std::string text;
  for (int i = 0; i < 3; ++i) text += step(i) + (i == 1 ? kSend : bare) + "\n";
  text += "srun: error: node7: task 3: Out Of Memory" + bare + "\n";
  const ParsedLog log = parse_log(text);
  ASSERT_EQ(log.samples.size(), 3U);
  for (const StepSample& sample : log.samples) EXPECT_EQ(sample.step_time_s.value_or(0), 5.25);
  ASSERT_EQ(log.facts.events.size(), 1U);
  EXPECT_EQ(log.facts.events[0].cause, "host_oom_kill");
  EXPECT_EQ(log.facts.events[0].line, "srun: error: node7: task 3: Out Of Memory");
  ASSERT_EQ(log.facts.nccl.uses.size(), 1U);
  EXPECT_EQ(log.facts.nccl.uses[0].calls, 4);
  EXPECT_EQ(log.facts.nccl.torn_lines, 4);
}

TEST(NcclTrace, IsAPartOfTheLogsFacts) {
  const ParsedLog log = parse_log(kSend + "\nhost:1:2 [0] NCCL INFO Connected all rings\n" + kSend);
  EXPECT_TRUE(log.facts.nccl_trace_seen);
  ASSERT_EQ(log.facts.nccl.uses.size(), 1U);
  EXPECT_EQ(log.facts.nccl.uses[0].calls, 2);
  EXPECT_EQ(nccl_datatype_name(log.facts.nccl.uses[0].datatype), "float32");
}

TEST(NcclTrace, OfRealLogsIsWhatGrepCounts) {
  if (shared_logs().empty()) GTEST_SKIP() << "the shared collection of logs is not here";
  const auto trace = [](const char* name) {
    return parse_log(read_file(shared_logs() / "nccl" / name)).facts.nccl;
  };
  const NcclTrace sends = trace("nccl-issue584-send-recv.log");
  ASSERT_EQ(sends.uses.size(), 2U);  // Recv, Send
  EXPECT_EQ(sends.uses[0].calls, 1);
  EXPECT_EQ(sends.uses[1].calls, 5);
  EXPECT_EQ(sends.uses[1].communicator_count, 2);
  EXPECT_EQ(bytes_per_call(sends.uses[1]), 9'682'944);
  const NcclTrace titan = trace("torchtitan-issue1369-tp-collectives.log");
  ASSERT_EQ(titan.uses.size(), 3U);
  EXPECT_EQ(titan.uses[0].operation, "AllGather");
  EXPECT_EQ(titan.uses[0].calls, 3);
  EXPECT_EQ(titan.uses[1].calls, 2);
  EXPECT_EQ(titan.uses[2].calls, 2);
  EXPECT_EQ(trace("dgxc-v25.05-deepseek_v3-README-299.log").uses.at(0).rank_count, 128);
  EXPECT_TRUE(trace("aws-slurm-104-nccl-tests-label.log").uses.empty());
}

}  // namespace
}  // namespace llmb::parser
