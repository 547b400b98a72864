// How communicators of NCCL end: by the watchdog, or by their owner. Over a stand-in for NCCL, and
// without a device.
#include "runner/cuda/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "runner/cuda/collectives.h"
#include "runner/cuda/communicator_config.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/failure_board.h"
#include "runner/cuda/poll_pause.h"
#include "runner/cuda/vendor_functions.h"
#include "runner/plan/options.h"
#include "tests/patience.h"
#include "tests/runner/cuda/stand_in_nccl.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<WatchedCommunicator> watched(ncclComm& comm, const std::string& group) {
  return std::make_shared<WatchedCommunicator>(&comm, group, 0, kTestPatience, nullptr);
}

std::string failure_of(WatchedCommunicator& communicator) {
  try {
    communicator.use();
  } catch (const CommunicatorFailed& error) {
    return error.what();
  }
  return "";
}

// A group of data, one of tensors and the world, whose calls follow each other on the rank's
// stream.
class Watching : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::set_stuck_communicators(static_cast<int>(comms_.size()));
    const std::array groups = {"data [0, 1]", "tensor [0, 1]", "world [0, 1]"};
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      comms_[i].is_stuck = true;
      all_.push_back(watched(comms_[i], groups[i]));
      Watchdog::of_this_process().watch(all_.back());
    }
  }
  void TearDown() override {
    for (const auto& one : all_) Watchdog::of_this_process().close(one, "the test is over");
    testing::set_stuck_communicators(0);
  }
  bool are_all_aborted() const {
    for (const ncclComm& comm : comms_) {
      if (comm.aborts == 0) return false;
    }
    return true;
  }
  void wait_until_all_are_aborted() const {
    const auto end = std::chrono::steady_clock::now() + 2 * kTestPatience;
    while (!are_all_aborted() && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }

  std::array<ncclComm, 3> comms_;
  std::vector<std::shared_ptr<WatchedCommunicator>> all_;
};

TEST_F(Watching, AbortsAllAtOnceForEachWaitsForTheOthersStream) {
  comms_[1].state = ncclSystemError;
  wait_until_all_are_aborted();
  EXPECT_EQ(testing::aborts_in_vain(), 0);
  for (const ncclComm& comm : comms_) {
    EXPECT_EQ(comm.aborts, 1);
    EXPECT_EQ(comm.destructions, 0);
  }
  EXPECT_THAT(failure_of(*all_[1]), HasSubstr("in tensor [0, 1]: communicator failed, NCCL: some"));
  EXPECT_THAT(failure_of(*all_[0]),
              AllOf(HasSubstr("in data [0, 1]"), HasSubstr("tensor [0, 1]: NCCL: some error")));
  try {
    throw_posted_failure();
    FAIL() << "nothing was posted";
  } catch (const CommunicatorFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("communicate in tensor [0, 1]"));
  }
}

TEST_F(Watching, AbortsAllWhereARankGivesUp) {
  Watchdog::of_this_process().end_all("world [0, 1]", "rank 0 ran out of memory");
  EXPECT_TRUE(are_all_aborted());
  EXPECT_EQ(testing::aborts_in_vain(), 0);
  EXPECT_THAT(failure_of(*all_[0]), HasSubstr("world [0, 1]: rank 0 ran out of memory"));
}

// As a rank does that fails by itself: its communicators are closed one after another, by its own
// thread.
TEST_F(Watching, AbortsAllWhereTheFirstOneIsClosedByARankThatFailed) {
  Watchdog::of_this_process().close(all_[0], "rank 0 failed");
  EXPECT_TRUE(are_all_aborted());
  for (const auto& one : all_) Watchdog::of_this_process().close(one, "rank 0 failed");
  EXPECT_EQ(testing::aborts_in_vain(), 0);
  for (const ncclComm& comm : comms_) {
    EXPECT_EQ(comm.aborts, 1);
    EXPECT_EQ(comm.destructions, 0);
  }
  EXPECT_THAT(failure_of(*all_[2]),
              AllOf(HasSubstr("in world [0, 1]"), HasSubstr("data [0, 1]: rank 0 failed")));
}

TEST_F(Watching, NamesAllGroupsThatShareACommunicator) {
  all_[2]->set_group("stage, world [0, 1]");
  Watchdog::of_this_process().end_all("stage, world [0, 1]", "rank 0 ran out of memory");
  EXPECT_THAT(failure_of(*all_[2]), HasSubstr("in stage, world [0, 1]: communicator failed, rank"));
}

TEST_F(Watching, BeginsANewRunWithAnEmptyBoard) {
  Watchdog::of_this_process().end_all("world [0, 1]", "rank 0 ran out of memory");
  EXPECT_THROW(throw_posted_failure(), CommunicatorFailed);
  for (const auto& one : all_) Watchdog::of_this_process().close(one, "");
  EXPECT_THROW(throw_posted_failure(), CommunicatorFailed) << "streams are still waited for";
  ncclComm comm;
  all_.push_back(watched(comm, "world [0, 1]"));
  Watchdog::of_this_process().watch(all_.back());
  EXPECT_NO_THROW(throw_posted_failure());
  TearDown();
  all_.clear();
}

// As with a device that has left the bus.
TEST_F(Watching, HasALastResortWhereAnAbortHangs) {
  comms_[1].is_hung = true;
  std::string said;
  Watchdog::of_this_process().set_last_resort(
      {.after = std::chrono::milliseconds(1), .act = [&](const std::string& what) {
         said = what;
         comms_[1].is_hung = false;
       }});
  Watchdog::of_this_process().end_all("world [0, 1]", "rank 0 ran out of memory");
  Watchdog::of_this_process().set_last_resort({});
  EXPECT_TRUE(are_all_aborted());
  EXPECT_THAT(said,
              AllOf(HasSubstr("NCCL has not ended "), HasSubstr(" of 3 communicators within "),
                    HasSubstr("for world [0, 1]: rank 0 ran out of memory")));
  EXPECT_EQ(Watchdog::kExitStuck, kExitCommunication);
}

// Whoever looks at a device that hangs holds the communicator meanwhile.
TEST(LastResort, ComesWhereACommunicatorCannotBeMarked) {
  ncclComm comm;
  std::promise<void> answer;
  const auto communicator = std::make_shared<WatchedCommunicator>(
      &comm, "world [0, 1]", 0, kTestPatience, [answered = answer.get_future().share()] {
        answered.wait();
        return std::string();
      });
  Watchdog::of_this_process().watch(communicator);
  std::string said;
  Watchdog::of_this_process().set_last_resort(
      {.after = std::chrono::milliseconds(1), .act = [&](const std::string& what) {
         said = what;
         answer.set_value();
       }});
  Watchdog::of_this_process().close(communicator, "rank 0 failed");
  Watchdog::of_this_process().set_last_resort({});
  EXPECT_THAT(said, HasSubstr("NCCL has not ended 1 of 1 communicators within "));
  EXPECT_EQ(comm.aborts, 1);
}

TEST(LastResort, EndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the watchdog is a thread
  EXPECT_EXIT(Watchdog::LastResort().act("NCCL has not ended 1 of 3 communicators"),
              ::testing::ExitedWithCode(kExitCommunication),
              "llmb-step-runner: NCCL has not ended 1 of 3 communicators; this process ends");
}

// Whoever holds it last, the watchdog or a graph, and on whatever thread.
TEST(WatchedCommunicator, EndsAsItsOwnerSays) {
  ncclComm lost;
  ncclComm finished;
  for (ncclComm* comm : {&lost, &finished}) {
    auto communicator = watched(*comm, "world [0, 1]");
    Watchdog::of_this_process().watch(communicator);
    std::thread other([held = communicator]() mutable { held = nullptr; });
    Watchdog::of_this_process().close(communicator, comm == &lost ? "rank 0 failed" : "");
    communicator = nullptr;
    other.join();
  }
  EXPECT_EQ(lost.aborts, 1);
  EXPECT_EQ(lost.destructions, 0);
  EXPECT_EQ(finished.aborts, 0);
  EXPECT_EQ(finished.destructions, 1);
}

TEST(WatchedCommunicator, AbortsWhatASplitLeftBehind) {
  ncclComm part;
  ncclComm comm;
  comm.split = &part;
  const auto communicator = watched(comm, "world [0, 1]");
  Watchdog::of_this_process().watch(communicator);
  comm.split_place = communicator->begin_split();  // whose waiting then threw
  EXPECT_THROW(communicator->begin_split(), std::logic_error) << "NCCL may still write there";
  Watchdog::of_this_process().close(communicator, "");
  EXPECT_EQ(comm.aborts, 1);
  EXPECT_EQ(comm.destructions, 0) << "the other members are not waited for";
  EXPECT_EQ(part.aborts, 1);
}

TEST(WatchedCommunicator, GivesAwayWhatASplitMade) {
  ncclComm part;
  ncclComm comm;
  const auto communicator = watched(comm, "world [0, 1]");
  Watchdog::of_this_process().watch(communicator);
  *communicator->begin_split() = &part;
  EXPECT_EQ(communicator->end_split(), &part);
  Watchdog::of_this_process().close(communicator, "");
  EXPECT_EQ(comm.destructions, 1);
  EXPECT_EQ(part.aborts, 0);
}

// Rank 0 is gone before it joined: nobody would ever say that it is there.
TEST(Joining, EndsOnceAMemberIsKnownToBeGone) {
  ncclComm comm;
  comm.state = ncclInProgress;
  testing::set_joined(&comm);
  CommunicatorOptions options;
  options.patience = kTestPatience;
  options.who_is_gone = [] { return std::string("rank 0 failed: no such checkpoint"); };
  const auto hear_id = [](const CommunicatorId* /*mine*/) { return CommunicatorId{}; };
  try {
    DeviceCommunicator::make("data", {0, 1}, 1, hear_id, options);
    FAIL() << "was joined";
  } catch (const CommunicatorFailed& error) {
    EXPECT_STREQ(error.what(),
                 "Could not join data [0, 1]: communicator failed, rank 0 failed: no such "
                 "checkpoint. The first rank to fail says why in its own log.");
  }
  EXPECT_EQ(comm.aborts, 1);
}

TEST(CommunicatorConfig, LeavesTheDeviceToComputingWhileMessagesWait) {
  EXPECT_EQ(communicator_config(CommunicatorUse::messages).maxCTAs, kBlocksOfMessagesMax);
  EXPECT_EQ(communicator_config(CommunicatorUse::collectives).maxCTAs, NCCL_CONFIG_UNDEF_INT);
  EXPECT_EQ(communicator_config(CommunicatorUse::messages).blocking, 0);
}

// So that a run says what was planned, as wherever its device is too small.
TEST(NcclErrors, TellThatTheDeviceIsFull) {
  testing::set_last_nccl_error("Failed to CUDA calloc 4194304 bytes: 2 'out of memory'");
  EXPECT_THROW(check(ncclUnhandledCudaError, "join world"), OutOfDeviceMemory);
  testing::set_last_nccl_error("Cuda failure 700 'an illegal memory access was encountered'");
  try {
    check(ncclUnhandledCudaError, "join world");
    FAIL() << "was no error";
  } catch (const OutOfDeviceMemory& error) {
    FAIL() << error.what();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("Could not join world: unhandled cuda error, Cuda failure"));
  }
}

TEST(PollPause, IsNoneWhileAnswersUsuallyCome) {
  using namespace std::chrono_literals;
  EXPECT_EQ(pause_after(0us), 0us);
  EXPECT_EQ(pause_after(400us), 0us);
  EXPECT_EQ(pause_after(5ms), 50us);
  EXPECT_EQ(pause_after(10s), 1ms);
}

}  // namespace
}  // namespace llmb::runner::cuda
