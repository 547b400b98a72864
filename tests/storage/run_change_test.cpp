// What a writer says of each run that it changed, to its own process and to those that listen.
#include "storage/run_change.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "storage/change_listener.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {

void PrintTo(const RunChange& change, std::ostream* stream) {
  *stream << "agsx"[static_cast<int>(change.kind)] << change.run;
}

namespace {

using ChangeKind = RunChange::Kind;
using Changes = std::vector<RunChange>;

TEST(Announcement, IsReadAsItWasWritten) {
  const DataChange change{4711,
                          {{ChangeKind::grown, 12},
                           {ChangeKind::grown, 13},
                           {ChangeKind::superseded, 9},
                           {ChangeKind::added, 14}}};
  EXPECT_EQ(announcement_text(change), "4711 g12 13 x9 a14");
  const auto read = parse_announcement(announcement_text(change));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->revision, 4711);
  EXPECT_EQ(read->runs, change.runs);
}

TEST(Announcement, NamesNoRunWhereTheyAreTooMany) {
  DataChange change{7, {}};
  for (RunId run = 1'000'000; run < 1'000'999; ++run)
    change.runs.push_back({ChangeKind::status, run});
  EXPECT_EQ(announcement_text(change).size(), 7'994U);
  EXPECT_EQ(parse_announcement(announcement_text(change))->runs, change.runs);
  change.runs.push_back({ChangeKind::status, 1});
  EXPECT_EQ(announcement_text(change).size(), 7'996U);
  change.runs.back().run = 1'000'999;
  EXPECT_EQ(announcement_text(change), "7");
}

TEST(Announcement, OfAnotherVersionIsAChangeOfAnything) {
  for (const char* text : {"7", "7 ", "7  g1", "7 12", "7 z12", "7 g", "7 g1 g1x", "7 g1 z"}) {
    const auto read = parse_announcement(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->revision, 7) << text;
    EXPECT_TRUE(read->runs.empty()) << text;
  }
  for (const char* text : {"", "g1", "revision"}) EXPECT_FALSE(parse_announcement(text)) << text;
}

TEST(Announcement, MayBeOfAJob) {
  const auto read = parse_announcement(job_announcement_text(17));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job, 17);
  EXPECT_EQ(read->revision, 0);
  EXPECT_TRUE(read->runs.empty());
  EXPECT_FALSE(parse_announcement("job x"));
  EXPECT_FALSE(parse_announcement("7 g1")->job);
}

// One change after the other, each with what it is to be told as.
class RunChanges : public testing::Test {
 protected:
  template <typename Expect>
  void each_change(Expect expect) {
    IngestBatch batch = make_batch(root_, "a.out", 10);
    writer_.commit({&batch, 1});
    expect(Changes{{ChangeKind::added, 1}});
    batch.size_bytes += 100;
    writer_.commit({&batch, 1});
    expect(Changes{{ChangeKind::grown, 1}});
    batch.summary.status = parser::RunStatus::incomplete;
    writer_.commit({&batch, 1});
    expect(Changes{{ChangeKind::status, 1}});
    writer_.mark_vanished(root_, "a.out", "2026-01-02T03:04:05Z");
    expect(Changes{{ChangeKind::status, 1}});
    writer_.mark_returned(root_, "a.out");
    expect(Changes{{ChangeKind::status, 1}});
    writer_.update_configuration(1, {});
    expect(Changes{{ChangeKind::status, 1}});
    std::vector<IngestBatch> batches = {batch, make_batch(root_, "b.out")};
    batches[0].generation = 1;
    writer_.commit(batches);
    expect(Changes{{ChangeKind::superseded, 1}, {ChangeKind::added, 2}, {ChangeKind::added, 3}});
    const auto write_anew = [&] {
      ++batches[0].generation;
      writer_.commit({batches.data(), 1});
    };
    write_anew();
    expect(Changes{{ChangeKind::superseded, 2}, {ChangeKind::added, 4}});
    write_anew();
    expect(Changes{{ChangeKind::superseded, 4}, {ChangeKind::added, 5}});
    write_anew();  // one more than are kept
    expect(Changes{{ChangeKind::superseded, 5}, {ChangeKind::added, 6}, {ChangeKind::removed, 1}});
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  const RootId root_ = writer_.upsert_root("/logs", "");
};

TEST_F(RunChanges, AreTakenOnceEach) {
  each_change([&](const Changes& wanted) {
    EXPECT_EQ(writer_.take_changes(), wanted);
    EXPECT_TRUE(writer_.take_changes().empty());
  });
}

TEST_F(RunChanges, AreNotThoseOfATransactionThatFailed) {
  std::vector<IngestBatch> batches = {make_batch(root_, "a.out"), make_batch(root_ + 1, "b.out")};
  EXPECT_THROW(writer_.commit(batches), StorageError) << "there is no such root";
  EXPECT_TRUE(writer_.take_changes().empty());
  writer_.commit({batches.data(), 1});
  EXPECT_EQ(writer_.take_changes().size(), 1U);
}

TEST_F(RunChanges, AreHeardOfByWhoListens) {
  if (std::getenv("LLMB_TEST_POSTGRESQL") == nullptr) {
    GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
  }
  const auto listener = listen_for_changes(database_.path());
  ASSERT_NE(listener, nullptr);
  std::int64_t revision = Reader(database_.path()).data_revision();
  each_change([&](const Changes& wanted) {
    const auto heard = listener->wait(std::chrono::seconds(60), -1);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->revision, ++revision);
    EXPECT_EQ(heard->runs, wanted);
  });
  writer_.upsert_root("/logs", "eos");  // of all its runs
  const auto heard = listener->wait(std::chrono::seconds(60), -1);
  ASSERT_TRUE(heard);
  EXPECT_TRUE(heard->runs.empty());
}

}  // namespace
}  // namespace llmb::storage
