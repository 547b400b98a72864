// DeviceError: a call of CUDA's libraries that failed. Its message says what was tried, what the
// library answered, and what the user can do. The double throws the same.
#pragma once

#include <stdexcept>
#include <string>

namespace llmb::runner::cuda {

class DeviceError : public std::runtime_error {
 public:
  // "Could not `tried`: `code`, `words`. `advice`"
  DeviceError(const std::string& tried, const std::string& code, const std::string& words,
              const std::string& advice);

  // The library's name for what went wrong: "cudaErrorIllegalAddress".
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

// No device, no driver, or a library that is not there: nothing was begun.
class NoDevice : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// The members of a communicator have lost each other: one did not come, or failed first.
class CommunicatorFailed : public DeviceError {
 public:
  using DeviceError::DeviceError;
  // Of a group that was ended for `reason`.
  CommunicatorFailed(const std::string& group, const std::string& reason)
      : DeviceError("communicate in " + group, "communicator failed", reason,
                    "The first rank to fail says why in its own log.") {}
};

// The device has too little memory for an allocation.
class OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace llmb::runner::cuda
