#include "parser/dialects/exception_cause.h"

#include <gtest/gtest.h>

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

TEST(ExceptionCause, IsToldByTheTypeWhereItSaysIt) {
  EXPECT_EQ(cause_of_exception("numpy.core._exceptions._ArrayMemoryError: x"), "host_oom_kill");
  EXPECT_EQ(cause_of_exception("pyarrow.lib.ArrowMemoryError: malloc of size 9 failed"),
            "host_oom_kill");
  EXPECT_EQ(cause_of_exception("json.decoder.JSONDecodeError: Expecting value: line 1 column 1"),
            "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of_exception("yaml.constructor.ConstructorError: x"), "configuration_error");
  EXPECT_EQ(cause_of_exception("torch.distributed.DistStoreError: x"), "rendezvous_failure");
  EXPECT_EQ(cause_of_exception("PermissionError: x"), "file_system_error");
  EXPECT_EQ(cause_of_exception("torch.distributed.elastic.errors.ChildFailedError:"),
            "child_failed");
}

TEST(ExceptionCause, IsToldByTheWordsWhoeverRaisedIt) {
  EXPECT_EQ(cause_of_exception("RuntimeError: in function gemm: cuBLAS Error: not supported"),
            "cuda_error");
  EXPECT_EQ(cause_of_exception("RuntimeError: NPU function error: aclrtSynchronizeDevice"),
            "cuda_error");
  EXPECT_EQ(cause_of_exception("tensorflow.errors_impl.ResourceExhaustedError: OOM when allocating "
                               "tensor with shape[8,4096]"),
            "cuda_oom");
  EXPECT_EQ(cause_of_exception("XlaRuntimeError: INTERNAL: Failed to allocate 687194767 bytes"),
            "cuda_oom");
  EXPECT_EQ(cause_of_exception("botocore.exceptions.ClientError: An error occurred (404) when "
                               "calling the HeadObject operation: Not Found"),
            "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of_exception("ValueError: found NaN in loss on rank 3"), "nan_loss");
  EXPECT_EQ(cause_of_exception("RuntimeError: operator torchvision::nms does not exist"),
            "missing_module");
  EXPECT_EQ(cause_of_exception("AssertionError: CublasLt version 12.1.3.x or higher required"),
            "missing_module");
  EXPECT_EQ(cause_of_exception("RuntimeError: Failed to download s3://b/index.json"),
            "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of_exception("ValueError: on-disk value metadata do not match"),
            "checkpoint_unreadable");
}

// What refuses a setting is the configuration; what refuses a tensor is the program.
TEST(ExceptionCause, OfARefusalIsTheConfigurationWhereASettingIsMeant) {
  EXPECT_EQ(cause_of_exception("ValueError: Cannot use sequence parallelism without tensor "
                               "parallelism"),
            "configuration_error");
  EXPECT_EQ(cause_of_exception("RuntimeError: world size (4) is not divisible by 8"),
            "configuration_error");
  EXPECT_EQ(cause_of_exception("ValueError: tensors must have equal shapes"), "python_exception");
  EXPECT_EQ(cause_of_exception("RuntimeError: 'weight' must be 2-D"), "python_exception");
  EXPECT_EQ(cause_of_exception("ValueError: too many values to unpack"), "python_exception");
}

TEST(ExceptionCause, IsNoMoreThanAnExceptionWhereNothingIsSaid) {
  EXPECT_EQ(cause_of_exception("KeyError: 'labels'"), "python_exception");
  EXPECT_EQ(cause_of_exception("AssertionError"), "python_exception");
  EXPECT_EQ(cause_of_exception("torch.utils.checkpoint.CheckpointError: Recomputed values differ"),
            "python_exception");
}

TEST(ExceptionCause, IsToldByThePlaceOnlyWhereTheWordsSayNothing) {
  using Basis = ExceptionVerdict::Basis;
  const auto told = [](std::string_view line, ProgramPlace place) {
    const ExceptionVerdict verdict = judge_exception(line, place);
    return std::pair(verdict.cause, verdict.basis);
  };
  using Told = std::pair<std::string_view, Basis>;
  EXPECT_EQ(told("KeyError: 'x'", ProgramPlace::unknown), Told("python_exception", Basis::nothing));
  EXPECT_EQ(told("KeyError: 'x'", ProgramPlace::checkpoint),
            Told("checkpoint_unreadable", Basis::place));
  EXPECT_EQ(told("OSError: [Errno 28] No space left on device", ProgramPlace::checkpoint),
            Told("disk_full_or_quota", Basis::words));
  EXPECT_EQ(told("ValueError: x must be set", ProgramPlace::checkpoint),
            Told("configuration_error", Basis::refusal));
  // Words of a file, whichever it is.
  for (const char* const line :
       {"FileNotFoundError: [Errno 2] x", "json.decoder.JSONDecodeError: Expecting value: line 1",
        "RuntimeError: unexpected EOF, expected 9 more bytes. The file might be corrupted."}) {
    EXPECT_EQ(told(line, ProgramPlace::checkpoint), Told("checkpoint_unreadable", Basis::words));
    EXPECT_EQ(told(line, ProgramPlace::data), Told("tokenizer_or_data_missing", Basis::words));
  }
  EXPECT_EQ(told("JSONDecodeError: Expecting value: line 1", ProgramPlace::configuration),
            Told("configuration_error", Basis::words));
  // What a reader refuses is its input, unless it names a setting.
  EXPECT_EQ(told("ValueError: buffer is smaller than 8", ProgramPlace::data),
            Told("tokenizer_or_data_missing", Basis::place));
  EXPECT_EQ(told("ValueError: num_workers is smaller than 8", ProgramPlace::data),
            Told("configuration_error", Basis::refusal));
  EXPECT_EQ(told("ValueError: x should not be set", ProgramPlace::engine),
            Told("python_exception", Basis::nothing));
  // A mistake of the program wherever it happens.
  EXPECT_EQ(told("UnboundLocalError: x", ProgramPlace::data),
            Told("python_exception", Basis::nothing));
  // Not an exception of its own.
  EXPECT_EQ(told("jax.errors.SimplifiedTraceback: For simplicity", ProgramPlace::unknown),
            Told("", Basis::no_exception));
}

TEST(ExceptionCause, OfAnyOtherLineIsNothing) {
  EXPECT_EQ(cause_of_exception(""), "");
  EXPECT_EQ(cause_of_exception("    raise ValueError("), "");
  EXPECT_EQ(cause_of_exception("training loss 3.1, no error"), "");
}

TEST(NativeException, IsToldByItsWords) {
  EXPECT_EQ(cause_of_native_exception("[enforce fail at inline_container.cc:664] . unexpected pos"),
            "disk_full_or_quota");
  EXPECT_EQ(cause_of_native_exception("NCCL error: unhandled failure"), "nccl_error");
  EXPECT_EQ(cause_of_native_exception("vector::_M_range_check"), "");
}

TEST(ExceptionCause, HasAClass) {
  for (const char* const line : {"ImportError: x", "BrokenPipeError: x", "OSError: no space left",
                                 "RuntimeError: requires a GPU", "RuntimeError: NCCL failed"}) {
    EXPECT_NE(find_failure_class(cause_of_exception(line)), nullptr) << line;
  }
}

}  // namespace
}  // namespace llmb::parser
