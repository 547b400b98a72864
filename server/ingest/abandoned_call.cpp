#include "server/ingest/abandoned_call.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace llmb::ingest {
namespace {

std::atomic<bool> was_abandoned = false;

}  // namespace

void note_abandoned_thread() {
  was_abandoned = true;
}

void exit_past_abandoned_threads(int exit_code) {
  if (!was_abandoned) return;
  spdlog::default_logger()->flush();
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

SignalsKeptAway::SignalsKeptAway() {
  sigset_t all{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsKeptAway::~SignalsKeptAway() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace llmb::ingest
