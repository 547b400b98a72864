#include "runner/nccl_trace_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "runner/plan/text_format.h"

namespace llmb::runner {
namespace {

constexpr int kSum = 0;  // ncclRedOp_t
constexpr int kMax = 2;

// ncclDataType_t.
int datatype_of(ElementType type) {
  switch (type) {
    case ElementType::byte:
      return 0;
    case ElementType::int32:
      return 2;
    case ElementType::int64:
      return 4;
    case ElementType::float32:
      return 7;
    case ElementType::float64:
      return 8;
    case ElementType::bfloat16:
      return 9;
  }
  return 0;
}

const char* operation_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce_sum:
    case CollectiveKind::all_reduce_max:
      return "AllReduce";
    case CollectiveKind::all_gather:
      return "AllGather";
    case CollectiveKind::reduce_scatter:
      return "ReduceScatter";
    case CollectiveKind::all_to_all:
      return "AlltoAll";
    case CollectiveKind::broadcast:
      return "Broadcast";
    case CollectiveKind::send:
      return "Send";
    case CollectiveKind::recv:
      return "Recv";
    case CollectiveKind::barrier:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

TraceProcess this_trace_process(int device) {
  constexpr std::size_t kHostBytesMax = 256;
  std::array<char, kHostBytesMax> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  return {host.data(), getpid(), syscall(SYS_gettid), device};
}

std::string nccl_trace_line(const TraceProcess& process, const Communicator& communicator,
                            const CallRecord& call) {
  const char* const operation = operation_of(call.kind);
  if (operation == nullptr || communicator.size() == 1) return "";
  const std::size_t count = call.kind == CollectiveKind::all_to_all
                                ? call.count / static_cast<std::size_t>(communicator.size())
                                : call.count;
  return text_of(
      "%s:%lld:%lld [%d] NCCL INFO %s: opCount %llx sendbuff %p recvbuff %p count %zu datatype %d "
      "op %d root %d comm %p [nranks=%d] stream %p\n",
      process.host.c_str(), static_cast<long long>(process.process_id),
      static_cast<long long>(process.thread_id), process.device, operation,
      static_cast<unsigned long long>(call.sequence), call.send_buffer, call.receive_buffer, count,
      datatype_of(call.type), call.kind == CollectiveKind::all_reduce_max ? kMax : kSum,
      call.peer < 0 ? 0 : call.peer, static_cast<const void*>(&communicator), communicator.size(),
      static_cast<const void*>(nullptr));
}

}  // namespace llmb::runner
