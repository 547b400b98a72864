// What programs and scripts say at a good end, and what they say at the end of a part of it.
#include "parser/dialects/end_words.h"

#include <gtest/gtest.h>

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

TEST(GoodEnd, IsToldByWordsOfSuccessAndByAStatusOf0) {
  for (const char* const line :
       {"training exit code 0", "mpirun returned 0", "[0] done rc=0", "srun finished with status 0",
        "Waiting for worker processes to exit... all 8 exited with code 0",
        "--- job 40110 ended with 0, Fri Aug  1 2025 ---",
        "Job nemo.collections.llm.api.pretrain finished: SUCCEEDED", "Training completed.",
        "training finished, 120 steps", "worker group successfully finished.",
        "run finished with 0", R"({"event":"launcher","host":"og1","rc":0})"}) {
    EXPECT_TRUE(tells_of_a_good_end(line)) << line;
  }
  for (const char* const line :
       {"training exit code 1", "returned 0.3", "status 02", "rc=01", "+ echo mpirun returned 0",
        "training has not finished", "training failed, cleanup done", "done with setup ...",
        "[WARNING] training finished without a checkpoint", "job killed, exit code 0",
        "run finished with 1", "training done, rc=143", R"({"event":"launcher","rc":1})",
        R"({"step":9,"status":0,"loss":2.1})",
        "sagemaker_pytorch_container.training INFO     Training container on algo-4 done",
        "sagemaker-training-toolkit INFO     MPI process finished.", ""}) {
    EXPECT_FALSE(tells_of_a_good_end(line)) << line;
  }
}

TEST(EndOfTraining, IsToldByItsWordsAndByTheLastSave) {
  for (const char* const line :
       {"Training complete", "[titan] 2025-01-15 11:02:13,300 - root - INFO - Training completed",
        "training finished, 120 steps", "Training done. 3 epochs", "training finished with 8 ranks",
        "Final checkpoint saved, exiting", "final model written: /data/last",
        "wrote final weights to out/320.safetensors"}) {
    EXPECT_EQ(end_of_training(line), kTrainingOver) << line;
  }
  for (const char* const line :
       {"saving final checkpoint", "writing final weights", "epoch 3: training complete",
        "Training finished iteration 1 at 2024-12-01", "training finished with code 42",
        "training finished with 1", "'training finished, rc=143'", "+ echo training finished",
        "final checkpoint could not be saved: not enough room", "final model was not saved",
        "WARNING: final checkpoint saved without its optimizer",
        "the final model has 8 B parameters", "phase 1: final model saved, training done", ""}) {
    EXPECT_EQ(end_of_training(line), "") << line;
  }
}

}  // namespace
}  // namespace llmb::parser
