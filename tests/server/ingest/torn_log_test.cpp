// Compressed logs that end in the middle, or are damaged: when they are read as far as they go, and
// that their runs are those of that text.
#include "server/unpacking/unpacked_text.h"

#include <fcntl.h>
#include <fstream>

#include "server/ingest/log_text.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/server/unpacking/packed_bytes.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using unpacking::gzipped;
using unpacking::packed_by;
using unpacking::Packing;
using unpacking::suffix_of;

const std::string kTornLog = "experiments/x/x_1750000000/x/log-a-a.x_7_0.out";
constexpr int kSteps = 3'000;  // several blocks of each format

class IngestTorn : public TreeTest {
 protected:
  IngestOptions with_clock() const {
    IngestOptions options = this->options();
    options.clock = clock_;
    return options;
  }
  // What is there of the text, as a file of its own.
  std::string text_of(const std::string& relative, Packing packing) const {
    const parser::FileDescriptor file(open(tree_path(relative).c_str(), O_RDONLY | O_CLOEXEC));
    const auto text = unpacking::unpack_file(file.get(), packing).value();
    std::ifstream in("/proc/self/fd/" + std::to_string(text.file.get()), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void write_torn(const std::string& relative, Packing packing, seconds age) {
    const std::string whole = packed_by(packing, nemo_lines(0, kSteps, kSteps - 1));
    write(relative, whole.substr(0, whole.size() / 2));
    set_age(relative, age);
  }
  void expect_same_run(const std::string& packed, const std::string& plain) {
    const auto run = run_of(packed);
    const auto other = run_of(plain);
    ASSERT_TRUE(run && other) << packed;
    EXPECT_EQ(run->summary, other->summary) << packed;
    EXPECT_EQ(run->size_bytes, other->size_bytes) << packed;
    EXPECT_EQ(steps_of(packed), steps_of(plain)) << packed;
    EXPECT_GT(run->step_count, 100) << packed;
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

TEST_F(IngestTorn, IsTheRunOfThePlainLogWithTheSameText) {
  std::vector<std::string> logs;
  for (const Packing packing : unpacking::kPackings) {
    const std::string suffix = suffix_of(packing);
    logs.push_back("packed" + suffix + "/" + kTornLog + suffix);
    write_torn(logs.back(), packing, hours(1));
    const std::string plain = "plain" + suffix + "/" + kTornLog;
    write(plain, text_of(logs.back(), packing));
    std::filesystem::last_write_time(tree_path(plain),
                                     std::filesystem::last_write_time(tree_path(logs.back())));
  }
  EXPECT_EQ(ingest_once(with_clock()).files_parked, 0);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::string suffix = suffix_of(unpacking::kPackings.at(i));
    expect_same_run(logs[i], "plain" + suffix + "/" + kTornLog);
  }
  EXPECT_EQ(ingest_once(with_clock()).bytes_read, 0U) << "they are unpacked once";
}

// Its last line may be cut within a number, as that of any other log.
TEST_F(IngestTorn, LeavesOutALastTimeThatMayBeCut) {
  std::string lines = nemo_lines(0, 20);
  const std::string key = "train_step_timing in s: ";
  lines.resize(lines.rfind(key) + key.size() + 1);
  const std::string whole = gzipped(lines);
  write("torn.out.gz", whole.substr(0, whole.size() - 8));
  write("cut.out", lines);
  set_age("torn.out.gz", hours(1));
  set_age("cut.out", hours(1));
  ingest_once(with_clock());
  EXPECT_EQ(steps_of("torn.out.gz"), steps_of("cut.out"));
  ASSERT_FALSE(steps_of("torn.out.gz").empty());
  const auto last = steps_of("torn.out.gz").back();
  EXPECT_TRUE(last.iteration < 19 || !last.step_time_s);
}

TEST_F(IngestTorn, IsParkedWhileItMayBeWritten) {
  const std::string log = kTornLog + ".gz";
  for (const auto age : {seconds(0), seconds(minutes(9)), -seconds(minutes(9))}) {
    write_torn(log, Packing::gzip, age);
    EXPECT_EQ(ingest_once(with_clock()).files_parked, 1);
    EXPECT_FALSE(run_of(log));
  }
  const auto parked = storage::Reader(database_).parked_files();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_NE(parked[0].reason.find("has not changed for ten minutes"), std::string::npos)
      << parked[0].reason;
  for (const auto age : {minutes(11), -minutes(60 * 24)}) {
    write_torn(log, Packing::gzip, age);
    EXPECT_EQ(ingest_once(with_clock()).files_parked, 0);
    EXPECT_TRUE(run_of(log)) << "whatever the clock of its file server says";
  }
}

TEST_F(IngestTorn, IsReadAnewWhenItChanges) {
  const std::string whole = gzipped(nemo_lines(0, kSteps, kSteps - 1));
  const std::string log = kTornLog + ".gz";
  write(log, gzipped(nemo_lines(0, 20, kSteps - 1)) + "no gzip");
  set_age(log, hours(3));
  ingest_once(with_clock());
  const auto first = run_of(log);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step_count, 20);
  write(log, whole.substr(0, whole.size() / 2));
  set_age(log, hours(2));
  ingest_once(with_clock());
  EXPECT_GT(run_of(log)->step_count, 20);
  EXPECT_EQ(run_of(log)->summary.status, parser::RunStatus::incomplete);
  // Again it may be written: what was read of it stays.
  write(log, whole.substr(0, whole.size() * 3 / 4));
  EXPECT_EQ(ingest_once(with_clock()).files_parked, 1);
  EXPECT_EQ(run_of(log)->summary.status, parser::RunStatus::incomplete);
  write(log, whole);
  EXPECT_EQ(ingest_once(with_clock()).files_parked, 0);
  EXPECT_EQ(run_of(log)->step_count, kSteps);
  EXPECT_EQ(run_of(log)->id, first->id);
  EXPECT_EQ(run_of(log)->summary.status, parser::RunStatus::complete);
}

// What stands of a log that was read before, and then compressed: as much as there is, until there
// is more.
TEST_F(IngestTorn, IsReadAgainForItsLogWhenItChanges) {
  const std::string log = kTornLog + ".gz";
  write(kTornLog, nemo_lines(0, 25));
  ingest_once(with_clock());
  const auto first = run_of(kTornLog);
  std::filesystem::remove(tree_path(kTornLog));
  write(log, gzipped(nemo_lines(0, 35)) + "no gzip");
  set_age(log, hours(2));
  for (int look = 0; look < 2; ++look) {
    testing::internal::CaptureStdout();
    const IngestStatus status = ingest_once(with_clock());
    const std::string told = testing::internal::GetCapturedStdout();
    EXPECT_EQ(status.bytes_read == 0, look == 1) << "it is read once";
    EXPECT_EQ(told.find("read up to there") == std::string::npos, look == 1) << told;
    EXPECT_EQ(run_of(kTornLog)->step_count, 35);
  }
  write(log, gzipped(nemo_lines(0, 50)));
  set_age(log, hours(1));
  ingest_once(with_clock());
  EXPECT_EQ(run_of(kTornLog)->step_count, 50);
  EXPECT_EQ(run_of(kTornLog)->id, first->id);
  EXPECT_EQ(run_of(kTornLog)->summary.status, parser::RunStatus::complete);
  EXPECT_FALSE(run_of(log));
}

TEST_F(IngestTorn, IsReadAgainForItsLogWhileItIsFollowed) {
  const std::string log = kTornLog + ".gz";
  write(kTornLog, nemo_lines(0, 25));
  Ingest ingest(with_clock(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return run_of(kTornLog).has_value(); }));
  write("aside", gzipped(nemo_lines(0, 35)) + "no gzip");
  set_age("aside", hours(2));
  std::filesystem::rename(tree_path("aside"), tree_path(log));
  std::filesystem::remove(tree_path(kTornLog));
  ASSERT_TRUE(eventually([&] { return run_of(kTornLog)->step_count == 35; }));
  write(log, gzipped(nemo_lines(0, 50)));
  EXPECT_TRUE(eventually([&] { return run_of(kTornLog)->step_count == 50; }));
  ingest.stop();
}

// A text that is cut off before what was read says nothing of what came behind.
TEST_F(IngestTorn, LeavesALongerRunAsItIs) {
  const std::string of_log = "a/" + kTornLog;
  const std::string of_form = "b/" + kTornLog + ".gz";
  write(of_log, nemo_lines(0, 25));
  write(of_form, gzipped(nemo_lines(0, 25)));
  ingest_once(with_clock());
  std::filesystem::remove(tree_path(of_log));
  for (const std::string& form : {of_log + ".gz", of_form}) {
    write(form, gzipped(nemo_lines(0, 10)) + "no gzip");
    set_age(form, hours(1));
  }
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(ingest_once(with_clock()).files_parked, 2);
    for (const std::string& log : {of_log, of_form}) {
      EXPECT_EQ(run_of(log)->step_count, 25) << log;
      EXPECT_EQ(run_of(log)->generation, 0) << log;
    }
  }
  const auto parked = storage::Reader(database_).parked_files();
  ASSERT_EQ(parked.size(), 2U);
  EXPECT_NE(parked[0].reason.find("which is kept"), std::string::npos) << parked[0].reason;
}

// No event tells that time has passed, and a file that failed often rests for an hour.
TEST_F(IngestTorn, IsReadByItselfWhileItIsFollowed) {
  const std::string log = kTornLog + ".xz";
  write_torn(log, Packing::xz, seconds(0));
  IngestOptions options = with_clock();
  options.park_first = options.park_longest = hours(1);
  Ingest ingest(std::move(options), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return ingest.status().files_parked == 1; }));
  EXPECT_FALSE(run_of(log));
  clock_->move(minutes(10));
  EXPECT_TRUE(eventually([&] { return run_of(log) && ingest.status().files_parked == 0; }));
  ingest.stop();
}

TEST_F(IngestTorn, StaysParkedWhereNothingUnpacks) {
  write("a.out.gz", gzipped(nemo_lines(0, 50)).substr(0, 10));
  write("b.out.gz", gzipped("no whole line") + "no gzip");
  set_age("a.out.gz", hours(1));
  set_age("b.out.gz", hours(1));
  EXPECT_EQ(ingest_once(with_clock()).files_parked, 2);
}

// What pages show, and --push-logs sends.
TEST_F(IngestTorn, HasTheTextThatWasRead) {
  const std::string log = kTornLog + ".zst";
  write_torn(log, Packing::zstd, hours(1));
  ingest_once(with_clock());
  const auto root = RootDirectory::open(tree_);
  ASSERT_TRUE(root);
  const auto text = open_log_text(*root, log);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(std::filesystem::file_size("/proc/self/fd/" + std::to_string(text->fd.get())),
            run_of(log)->size_bytes);
}

}  // namespace
}  // namespace llmb::ingest
