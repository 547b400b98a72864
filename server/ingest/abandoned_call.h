// Calls into a file system that do not come back. A thread in one can be neither woken nor ended,
// so it is left behind: it owns all it touches, and gives up by itself should its call return.
#pragma once

#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace llmb::ingest {

void note_abandoned_thread();
// Ends the process where it ever left a thread behind; else returns. To be called once the
// database is closed: the destructors of static objects, which this leaves out, would take away
// what such a thread may yet wake up to.
void exit_past_abandoned_threads(int exit_code);

// While it lives, threads that are made here take no signal: it would be lost in their call.
class SignalsKeptAway {
 public:
  SignalsKeptAway();
  ~SignalsKeptAway();
  SignalsKeptAway(const SignalsKeptAway&) = delete;
  SignalsKeptAway& operator=(const SignalsKeptAway&) = delete;

 private:
  sigset_t before_{};
};

// What `call` returns, or nothing where it takes longer than `patience`: then its thread is left
// behind. `call` owns all it uses.
template <typename Call>
auto answer_within(std::chrono::milliseconds patience, Call call)
    -> std::optional<decltype(call())> {
  auto answer = std::make_shared<std::promise<decltype(call())>>();
  auto future = answer->get_future();
  std::optional<SignalsKeptAway> kept_away(std::in_place);
  std::thread thread([answer, call = std::move(call)] {
    try {
      answer->set_value(call());
    } catch (...) {
      answer->set_exception(std::current_exception());
    }
  });
  kept_away.reset();
  if (future.wait_for(patience) == std::future_status::ready) {
    thread.join();
    return future.get();
  }
  note_abandoned_thread();
  thread.detach();
  return std::nullopt;
}

}  // namespace llmb::ingest
