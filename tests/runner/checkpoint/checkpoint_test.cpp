#include "runner/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/runner/checkpoint/trained_ranks.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Joined;

constexpr double kLearningRate = 3e-3;

std::vector<double> train(testing::Trainer& trainer, std::int64_t first, std::int64_t last) {
  std::vector<double> losses;
  for (std::int64_t step = first; step < last; ++step) {
    losses.push_back(trainer.step(step, kLearningRate).loss);
  }
  return losses;
}

std::string load_error(const fs::path& path, const ModelSpec& spec, const ParallelSizes& sizes) {
  try {
    testing::on_every_rank(spec, sizes,
                           [&](testing::Trainer& trainer) { load_checkpoint(path, trainer); });
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, GoesOnBitForBit) {
  const ModelSpec spec = tiny_grok();
  const ParallelSizes sizes{.tp = 2, .dp = 2, .ep = 2};
  const TemporaryFolder directory;
  std::vector<double> whole_losses;
  const Joined whole = testing::joined_states(spec, sizes, [&](testing::Trainer& trainer) {
    train(trainer, 0, 25);
    save_checkpoint(directory.path(), trainer, 25);
    const std::vector<double> losses = train(trainer, 25, 50);
    if (trainer.rank() == 0) whole_losses = losses;
  });
  std::vector<double> resumed_losses;
  const Joined resumed = testing::joined_states(spec, sizes, [&](testing::Trainer& trainer) {
    const std::int64_t step = load_checkpoint(directory.path(), trainer);
    EXPECT_EQ(step, 25);
    const std::vector<double> losses = train(trainer, step, 50);
    if (trainer.rank() == 0) resumed_losses = losses;
  });
  EXPECT_EQ(resumed_losses, whole_losses);
  EXPECT_EQ(resumed, whole);
  EXPECT_LT(whole_losses.back(), whole_losses.front());
}

// On a file system of a network a machine may see for a minute what `latest` said before.
TEST(Checkpoint, IsTheOneThatTheFirstRankSees) {
  const TemporaryFolder directory;
  testing::on_every_rank(tiny_llama(), {.tp = 2}, [&](testing::Trainer& trainer) {
    save_checkpoint(directory.path() / "before", trainer, 3);
    save_checkpoint(directory.path() / "now", trainer, 5);
  });
  for (const char* seen_by_the_last : {"before", "nothing yet"}) {
    testing::on_every_rank(tiny_llama(), {.dp = 4}, [&](testing::Trainer& trainer) {
      const fs::path seen = directory.path() / (trainer.rank() == 3 ? seen_by_the_last : "now");
      EXPECT_EQ(load_checkpoint(seen, trainer), 5) << "rank " << trainer.rank();
    });
  }
}

TEST(Checkpoint, LoadsInAnyOtherLayout) {
  const ModelSpec spec = tiny_maverick();
  const std::vector<ParallelSizes> layouts = {
      {},
      {.tp = 2},
      {.dp = 4, .ep = 2},
      {.tp = 2, .dp = 2, .pp = 2, .vp = 2, .ep = 2, .etp = 2},
      {.tp = 2, .cp = 2, .pp = 2, .ep = 4}};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const TemporaryFolder directory;
    const Joined saved = testing::joined_states(spec, layouts[i], [&](testing::Trainer& trainer) {
      train(trainer, 0, 2);
      save_checkpoint(directory.path(), trainer, 2);
    });
    for (const std::size_t other : {i + 1, i + 3}) {
      const ParallelSizes& loaded_in = layouts[other % layouts.size()];
      const Joined loaded = testing::joined_states(spec, loaded_in, [&](testing::Trainer& trainer) {
        EXPECT_EQ(load_checkpoint(directory.path(), trainer), 2);
        EXPECT_EQ(trainer.optimizer().update_count(), 2);
        // The model's own weights followed.
        const LocalParameter<testing::Backend>& norm = *trainer.store().parameters().begin();
        EXPECT_NE(norm.weight[0], 0.0F);
      });
      EXPECT_TRUE(loaded == saved);
    }
  }
}

TEST(Checkpoint, NamesTheShardThatIsDamaged) {
  const ModelSpec spec = tiny_llama();
  const ParallelSizes sizes{.tp = 2};
  const TemporaryFolder directory;
  testing::on_every_rank(spec, sizes, [&](testing::Trainer& trainer) {
    save_checkpoint(directory.path(), trainer, 7);
  });
  const fs::path shard = directory.path() / "iteration_0000007" / "rank_00001.shard";
  const auto size = static_cast<std::int64_t>(fs::file_size(shard));
  const auto flip = [&](std::int64_t at) {
    std::fstream stream(shard, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(at);
    stream.put(byte);
  };
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{9}, std::int64_t{18},
                                std::int64_t{100}, size / 2, size - 1}) {
    flip(at);
    EXPECT_THAT(load_error(directory.path(), spec, sizes),
                AllOf(HasSubstr("rank_00001.shard"), HasSubstr("is damaged")))
        << "byte " << at;
    flip(at);
  }
  EXPECT_EQ(load_error(directory.path(), spec, sizes), "");
  flip(size - 1);
  EXPECT_THAT(load_error(directory.path(), spec, {}), HasSubstr("second_moment of head.weight"));
  fs::resize_file(shard, static_cast<std::uintmax_t>(size - 10));
  EXPECT_THAT(load_error(directory.path(), spec, sizes),
              AllOf(HasSubstr("rank_00001.shard"), HasSubstr("the manifest says")));
  fs::remove(shard);
  EXPECT_THAT(load_error(directory.path(), spec, sizes), HasSubstr("rank_00001.shard"));
}

TEST(Checkpoint, RefusesAnotherModelOrNone) {
  const TemporaryFolder directory;
  EXPECT_THAT(load_error(directory.path(), tiny_llama(), {}), HasSubstr("no checkpoint in"));
  testing::on_every_rank(tiny_llama(), {}, [&](testing::Trainer& trainer) {
    save_checkpoint(directory.path(), trainer, 1);
  });
  ShapeOverrides overrides;
  overrides.vocabulary_size = 128;
  EXPECT_THAT(load_error(directory.path(), tiny_model("pretrain_llama3.1", "8b", overrides), {}),
              AllOf(HasSubstr("embedding.weight"), HasSubstr("[64,32]"), HasSubstr("[128,32]")));
  overrides.vocabulary_size.reset();
  overrides.layer_count = 5;
  EXPECT_THAT(load_error(directory.path(), tiny_model("pretrain_llama3.1", "8b", overrides), {}),
              HasSubstr("layers.4."));
}

TEST(Checkpoint, KeepsOneOfEveryStepAndGoesOnFromTheLast) {
  const TemporaryFolder directory;
  testing::on_every_rank(tiny_llama(), {}, [&](testing::Trainer& trainer) {
    save_checkpoint(directory.path(), trainer, 1);
    save_checkpoint(directory.path(), trainer, 2);
    const fs::path again = save_checkpoint(directory.path(), trainer, 2);
    EXPECT_TRUE(fs::exists(again / "manifest.json"));
    EXPECT_EQ(load_checkpoint(directory.path(), trainer), 2);
    EXPECT_EQ(load_checkpoint(directory.path() / "iteration_0000001", trainer), 1);
  });
  int checkpoints = 0;
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    checkpoints += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(checkpoints, 2);
}

TEST(Checkpoint, SaysWhereItCannotWrite) {
  const TemporaryFolder directory;
  std::ofstream(directory.path() / "file") << "in the way";
  try {
    testing::on_every_rank(tiny_llama(), {}, [&](testing::Trainer& trainer) {
      save_checkpoint(directory.path() / "file" / "below", trainer, 1);
    });
    FAIL() << "saved below a file";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), HasSubstr("file/below"));
  }
}

}  // namespace
}  // namespace llmb::runner
