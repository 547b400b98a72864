// Standing by: a daemon that would write serves what another one writes, until that one ends, by
// whatever cause. This is where one process writes all of a database; what several write, ingest
// waits for, root by root.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "server/cli/daemon.h"
#include "server/cli/stop_signals.h"

namespace llmb::cli {

// The daemon that may write, not started yet. Where another process writes, and the options say so
// (stands_by), it serves read-only meanwhile, and calls `announce` with the port, which the daemon
// keeps. Null: a signal came first. Throws as Daemon does.
std::unique_ptr<Daemon> daemon_that_may_write(
    DaemonOptions options, const StopSignals& signals,
    const std::function<void(const DaemonOptions&, std::uint16_t)>& announce);

}  // namespace llmb::cli
