// Logs that are compressed: whole, cut off, damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/parsed_paths.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/server/unpacking/packed_bytes.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParsePackedLog, UnpacksCompressedLogs) {
  const TemporaryFolder folder;
  folder.write("t/a.out", nemo_log(49));
  folder.write("t/a.out.gz", "the log itself lies beside it");
  folder.write("t/b.out.gz", unpacking::gzipped(nemo_log(49)));
  folder.write("t/c.out.zst", unpacking::zstd_packed(nemo_log(49)));
  folder.write("t/c2.out.xz", unpacking::xz_packed(nemo_log(49)));
  folder.write("t/c3.out.bz2", unpacking::bzip2_packed(nemo_log(49)));
  folder.write("t/d.out.lz4", "packed");
  folder.write("t/e.gz", unpacking::gzipped(nemo_log(49)));
  folder.write("t/f.out.gz", unpacking::gzipped(nemo_log(49)).substr(0, 12));
  folder.write("t/g.out.xz", unpacking::xz_packed(nemo_log(49)).substr(0, 20));
  folder.write("t/h.out.bz2", unpacking::bzip2_packed(nemo_log(49)).substr(0, 60));
  const ProgramRun run = parse_json(folder, {"t"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(paths_in(run),
              ElementsAre("t/a.out", "t/b.out.gz", "t/c.out.zst", "t/c2.out.xz", "t/c3.out.bz2"));
  EXPECT_THAT(run.err, HasSubstr("t/d.out.lz4: a log that is compressed otherwise than by gzip"));
  for (const char* const cut_off : {"t/f.out.gz", "t/g.out.xz", "t/h.out.bz2"}) {
    EXPECT_THAT(run.err, HasSubstr(std::string(cut_off) + ": reading broke off at byte"));
  }
  EXPECT_THAT(run.err, HasSubstr("ends in the middle"));
  EXPECT_THAT(run.err, Not(HasSubstr("e.gz")));
  const auto runs = nlohmann::json::parse(run.out).at("runs");
  for (const auto& one : runs) {
    EXPECT_EQ(one.at("step_time_s_mean"), 2.5) << one.at("path");
    EXPECT_TRUE(one.at("read_in_part").is_null()) << one.at("path");
  }
  EXPECT_EQ(runs[1].at("experiment"), "b");
  EXPECT_THAT(paths_in(parse_json(folder, {"t/e.gz"})), ElementsAre("t/e.gz"));
}

TEST(ParsePackedLog, ReadsWhatIsThereOfATornLog) {
  const TemporaryFolder folder;
  const std::string log = nemo_log(49);
  const auto cut = [](const std::string& packed) { return packed.substr(0, packed.size() - 8); };
  // A first one that is whole has what of the others may not unpack.
  for (const unpacking::Packing packing : unpacking::kPackings) {
    folder.write("t/a.out" + unpacking::suffix_of(packing),
                 unpacking::packed_by(packing, log) + cut(unpacking::packed_by(packing, "more\n")));
  }
  folder.write("t/b.out.gz", cut(unpacking::gzipped(log)));
  folder.write("t/c.out.gz", unpacking::gzipped(log) + "no gzip");
  const ProgramRun run = parse_json(folder, {"t"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(paths_in(run), ElementsAre("t/a.out.bz2", "t/a.out.gz", "t/a.out.xz", "t/a.out.zst",
                                         "t/b.out.gz", "t/c.out.gz"));
  const auto document = nlohmann::json::parse(run.out);
  for (const auto& one : document.at("runs")) {
    EXPECT_EQ(one.at("status"), "complete") << one.at("path");
    EXPECT_EQ(one.at("step_time_s_mean"), 2.5) << one.at("path");
  }
  EXPECT_EQ(document.at("skipped").size(), 0U) << "they were read";
  EXPECT_EQ(document.at("counts").at("skipped"), 0);
  const std::string reason = "the compressed file ends in the middle, after " +
                             std::to_string(log.size()) + " bytes of text";
  EXPECT_THAT(document.at("runs")[4].at("read_in_part").get<std::string>(), HasSubstr(reason));
  EXPECT_THAT(document.at("runs")[5].at("read_in_part").get<std::string>(), HasSubstr("damaged"));
  const std::string told = "t/b.out.gz: " + reason;
  EXPECT_THAT(run.err, HasSubstr("llmb-report: read in part " + told));
  EXPECT_THAT(run.err, HasSubstr("read in part t/c.out.gz: the compressed file is damaged behind " +
                                 std::to_string(log.size()) + " bytes of text"));
  EXPECT_THAT(run.err, Not(HasSubstr("skipped")));

  const ProgramRun named =
      run_program({"parse", "--explain", "t/b.out.gz"}, {folder.path(), {}, false});
  EXPECT_EQ(named.exit_code, 0) << "as of a log that was read";
  EXPECT_THAT(named.out, HasSubstr("\nread in part " + told));
  for (const char* const command : {"agreement", "compare"}) {
    const ProgramRun other = run_program({command, "t/b.out.gz"}, {folder.path(), {}, false});
    EXPECT_THAT(other.err, HasSubstr("llmb-report: read in part " + told)) << command;
  }
  const std::string help = run_program({"parse", "--help"}, {folder.path(), {}, false}).out;
  EXPECT_THAT(help, HasSubstr("read_in_part: why a compressed log"));
}

TEST(ParsePackedLog, TellsWhatIsMissingOfLogsInTheOrderOfTheirPaths) {
  const TemporaryFolder folder;
  const std::string packed = unpacking::gzipped(nemo_log(49));
  folder.write("t/a.out.lz4", "packed");
  folder.write("t/b.out.gz", packed.substr(0, packed.size() - 8));
  folder.write("t/c.out.lz4", "packed");
  folder.write("t/sbatch_d.out", "by design");
  const ProgramRun run = parse_json(folder, {"t"});
  const std::size_t first = run.err.find("llmb-report: skipped t/a.out.lz4: ");
  const std::size_t second = run.err.find("llmb-report: read in part t/b.out.gz: ");
  const std::size_t third = run.err.find("llmb-report: skipped t/c.out.lz4: ");
  EXPECT_LT(first, second) << run.err;
  EXPECT_LT(second, third) << run.err;
  EXPECT_LT(third, run.err.find("llmb-report: skipped 1 file that no training log is"));
}

// As of a plain log that was copied in part.
TEST(ParsePackedLog, LeavesOutATimeThatIsCutInATornLog) {
  const TemporaryFolder folder;
  std::string log = nemo_log(49);
  const std::string key = "train_step_timing in s: ";
  for (std::size_t at = log.find(key); at != std::string::npos; at = log.find(key, at + 1)) {
    log.insert(at + key.size() + 1, ".704");
  }
  log.resize(log.rfind(key) + key.size() + 1);
  const std::string packed = unpacking::gzipped(log);
  folder.write("a.out", log);
  folder.write("a.gz", packed.substr(0, packed.size() - 8));
  const auto run_of = [&](const std::string& name) {
    const ProgramRun run = run_program(
        {"parse", "--explain", "--samples", "--format", "json", name}, {folder.path(), {}, false});
    return nlohmann::json::parse(run.out).at("runs").at(0);
  };
  EXPECT_EQ(run_of("a.gz").at("refused_lines"), run_of("a.out").at("refused_lines"));
  EXPECT_EQ(run_of("a.gz").at("samples"), run_of("a.out").at("samples"));
  EXPECT_EQ(run_of("a.gz").at("refused_lines").at(0).at("reason"), "fields_cut_off");
}

TEST(ParsePackedLog, NumbersRefusedLinesOfACompressedLog) {
  const TemporaryFolder folder;
  std::string log = nemo_log(49);
  log.replace(log.find("train_step_timing in s: "), 25, "train_step_timing in s: ?");
  const auto refused = [&](const std::string& name) {
    const ProgramRun run =
        run_program({"parse", "--explain", "--format", "json", name}, {folder.path(), {}, false});
    return nlohmann::json::parse(run.out).at("runs").at(0).at("refused_lines");
  };
  folder.write("a.out", log);
  folder.write("a.gz", unpacking::gzipped(log));
  EXPECT_FALSE(refused("a.out").empty());
  EXPECT_EQ(refused("a.gz"), refused("a.out"));
}

}  // namespace
}  // namespace llmb::cli
