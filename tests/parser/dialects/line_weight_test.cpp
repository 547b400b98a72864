#include "parser/dialects/line_weight.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(LineWeight, OfCommentsTracesAndSettingsIsAnEcho) {
  for (const char* line :
       {"# CUDA out of memory", "+ echo CUDA out of memory", "++ export X='NCCL error'",
        "  on_error: CUDA out of memory", "- message: NCCL error",
        "export MESSAGE='CUDA out of memory'",
        "n1:1:2 [0] NCCL INFO NET/Plugin : cannot open shared object file",
        "Ignored error while writing: [Errno 13] Permission denied",
        "HINT='RuntimeError: CUDA error: device-side assert triggered'",
        ">   [rank12]: torch.OutOfMemoryError: CUDA out of memory",
        "Namespace(lr=1, on_oom='CUDA out of memory')", "config: {'retry_on': 'NCCL error'}"}) {
    EXPECT_EQ(weight_of(line), LineWeight::echo) << line;
  }
}

TEST(LineWeight, OfATracebacksFramesIsAnEcho) {
  for (const char* line :
       {"    raise ChildFailedError(", "[rank3]:     raise CheckpointingException(msg) from e",
        "[rank0]:[rank0]:     assert not norm.isnan(), (", "raise RendezvousConnectionError(",
        "  File \"/t/errors/NCCL error.py\", line 9, in f",
        "frame #3: c10::CUDA error: + 0x9 (0x7f)", "    x = torch.distributed.NcclError: (",
        "│ ❱ 211 raise ValueError(\"NCCL error\")   │"}) {
    EXPECT_EQ(weight_of(line), LineWeight::echo) << line;
  }
}

TEST(LineWeight, OfAProgramThatGoesOnIsAWarning) {
  for (const char* line :
       {"[W815 09:12:44.100 socket.cpp:764] [c10d] The client socket has failed to connect",
        "[rank3]:[W815 09:12:44.100 socket.cpp:764] The client socket has failed to connect",
        "W0815 09:12:44 api.py:900] sending SIGTERM",
        "[W socket.cpp:697] [c10d] The client socket has failed to connect to [::]:29500",
        "[rank0]:[rank0]:[W815 TCPStore.cpp:106] sendBytes failed: Broken pipe",
        "worker-3 [W socket.cpp:697] [c10d] The IPv6 network addresses of (n1, 29500) cannot be",
        "UserWarning: Found no NVIDIA driver",
        "error: pyxis:     [WARN] Kernel module nvidia_uvm is not loaded.",
        "2026-01-02 03:04:05 WARNING - Missing key(s) in state_dict",
        "[NeMo W 2026-01-02] x",
        "Connection reset by peer, retrying in 3 s",
        "slurmstepd: error: couldn't chdir to `/a': No such file: going to /tmp instead",
        "unable to open mca_btl: librdmacm.so.1: cannot open shared object file (ignored)",
        "ERROR: ld.so: object 'x.so' from LD_PRELOAD cannot be preloaded (cannot open shared "
        "object "
        "file): ignored.",
        "rename failed: [Errno 116] Stale file handle; second try ... ok",
        "OSError: [Errno 5] Input/output error: retry 1 of 3 succeeded.",
        "[rank 17] retry 1/5 opening part.npy: [Errno 116] Stale file handle",
        "Attempt 1/3 to open the store failed: Connection refused",
        "download failed (attempt 2 of 3): Connection reset by peer",
        "Failed to import kernels, using torch fallback: No module named 'liger_kernel'",
        "flash_attn: No module named 'flash_attn'; using eager attention instead",
        "[E socket.cpp:922] [c10d] The client socket has timed out after 60s, trying again.",
        "INFO - KeyError: 'a' was handled",
        "E0317 13:33:22.9 9100 coordination_service_agent.cc:305] Failed to disconnect from "
        "coordination service with status: DEADLINE_EXCEEDED: Barrier timed out. Id: "
        "[Init]Shutdown",
        "note: previous job 12 of this chain CANCELLED DUE TO TIME LIMIT (expected)",
        "[INFO] data: ValueError: x, skipping it",
        "brigadier: yesterday: srun: error: Node failure on n7 (job 22); replaced mainboard",
        "n7 dmesg since boot: NVRM: Xid: 79, fallen off the bus.  <-- of 3 days ago, swapped since",
        "(attempt 1: n9 lost, DUE TO NODE FAILURE; attempt 2: uncorrectable ECC error on n9)",
        "n7 kernel: NVRM: Xid (PCI:0000:4e:00): 63, Row Remapper: New row marked for remapping"}) {
    EXPECT_EQ(weight_of(line), LineWeight::warning) << line;
  }
}

TEST(LineWeight, OfWhatCouldNotBeDoneIsAComplaint) {
  for (const char* line :
       {"run.sh: line 4: torchrun: command not found", "libx_cpu.so: undefined symbol: f",
        "find: '/x/y': Stale file handle",
        "LustreError: 11-0: fs3-OST0042-osc-f: operation ost_write to node n failed: rc = -107",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "plugin: libfabric.so.1: cannot open shared object file: No such file or directory",
        "Could not load library x: libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by "
        "x.so)"}) {
    EXPECT_EQ(weight_of(line), LineWeight::complaint) << line;
  }
}

TEST(LineWeight, OfALoggersOrdinaryLineIsANote) {
  for (const char* line : {"[INFO] train: KeyError: 'a'", "INFO:train:run failed",
                           "[NeMo I 2026-01-02] x", "I0102 03:04:05.1 140 train.py:9] x"}) {
    EXPECT_EQ(weight_of(line), LineWeight::note) << line;
  }
}

TEST(LineWeight, OfEverythingElseIsAStatement) {
  for (const char* line :
       {"",
        "CUDA out of memory",
        "OSError: [Errno 116] Stale file handle: second try failed",
        "wrapper: exit 1 after 3 s, too fast, not retrying",
        "python: symbol lookup error: libx.so: undefined symbol: f",
        "mkdir: cannot create directory 'x': Disk quota exceeded",
        "sbatch: error: Invalid account or account/partition combination specified",
        "srun: error: n1: task 3: Killed",
        "retry 5/5 opening part.npy: [Errno 116] Stale file handle",
        "OSError: [Errno 116] Stale file handle: entry 3/5",
        "RuntimeError: no kernel for this; consider using eager attention instead",
        "./a.out: /lib/libc.so.6: version `GLIBC_2.34' not found (required by ./a.out)",
        "DistBackendError: NCCL error, unhandled system error (run with NCCL_DEBUG=INFO for more)",
        "[rank3]:[E815 09:12:44.100 ProcessGroupNCCL.cpp:655] INFO: watchdog got stuck",
        "n1:1:2 [0] misc/ibvwrap.cc:200 NCCL WARN Call to ibv_reg_mr failed",
        "ImportError: libx.so: cannot open shared object file: No such file or directory",
        "./a.out: error while loading shared libraries: libx.so: cannot open shared object file",
        "  what():  std::bad_alloc",
        "    srun: error: n1: task 3: Killed",
        "  traceback : Signal 9 (SIGKILL) received by PID 1",
        "[E socket.cpp:860] [c10d] The client socket has timed out",
        "worker-3 [E socket.cpp:957] [c10d] The client socket has timed out after 1800s",
        "raised: CUDA out of memory",
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802",
        "[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 9.00 seconds.",
        "    torch.OutOfMemoryError: CUDA out of memory",
        "FileNotFoundError: No such file or directory: '/lustre/yesterday/run/tokens.bin'",
        "RuntimeError: /ckpt is from 12 days ago: CUDA out of memory",
        "OSError: Can't load tokenizer (attempt 1: ConnectionError; attempt 2: ConnectionError)",
        "NCCL WARN NET/IB : unhandled system error (retrying after 5 s), giving up",
        "slurmstepd: error: *** STEP 1.0 ***"}) {
    EXPECT_EQ(weight_of(line), LineWeight::statement) << line;
  }
}

TEST(Reason, IsLeftOpenByWhatOnlyTellsThatSomethingFailed) {
  EXPECT_TRUE(leaves_reason_open("pyxis: child 28 failed with error code: 1"));
  EXPECT_TRUE(leaves_reason_open("The client socket has timed out after 600000ms while trying to"));
  EXPECT_TRUE(
      leaves_reason_open("The server socket has failed to listen on any local network "
                         "address."));
  EXPECT_FALSE(
      leaves_reason_open("The server socket has failed to listen on any local network "
                         "address. code: -98, name: EADDRINUSE"));
  EXPECT_TRUE(leaves_reason_open("CheckpointException ranks:dict_keys([0])"));
  EXPECT_FALSE(leaves_reason_open("ValueError: x"));
}

}  // namespace
}  // namespace llmb::parser
