#include "parser/statistics/first_cause.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parser/dialects/event_bearing.h"
#include "parser/dialects/exception_cause.h"
#include "parser/dialects/line_weight.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

bool holds_any(const std::string& line, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return line.find(word) != std::string::npos; });
}

// A scheduler or a user ended the run, which has nothing to do with the next attempt.
bool ends_from_outside(const LogEvent& failure) {
  const FailureClass* const known = find_failure_class(failure.cause);
  return known != nullptr && known->ends_run_over;
}

// "workload w requeued (evicted: Preempted …), admitted again after 00:41:10": one line tells that
// the run was taken away, and that it is back.
bool tells_of_a_return(const LogEvent& failure) {
  return ends_from_outside(failure) &&
         holds_any(failure.line, {"admitted again", "relaunched in "}) &&
         !holds_any(failure.line, {" not ", "n't "});
}

bool was_logged_as_warning(const LogEvent& failure) {
  if (tells_of_a_return(failure)) return true;
  const LineWeight weight = weight_of(failure.line);
  // A program has no trouble where it is told in time that its nodes are taken away, or to end.
  const bool was_told = failure.cause == "preempted" || failure.cause == "interrupted";
  if (weight == LineWeight::note && was_told) return false;
  if (weight == LineWeight::warning && failure.cause == "preempted") {
    if (tells_of_an_earlier_run(failure.line)) return true;
    // Who asks for such notices had no answer, or who lost a node takes another: "preemption notice
    // poll failed, will retry", "node n1 preempted: NodeDiedError, will retry".
    return holds_any(failure.line, {" failed", "will retry"}) &&
           tells_that_it_goes_on(failure.line);
  }
  return weight != LineWeight::statement && weight != LineWeight::complaint;
}

// "[INFO] trainer: ValueError: …": programs log at any level what ended them.
bool is_exception_in_a_note(const LogEvent& failure) {
  return weight_of(failure.line) == LineWeight::note &&
         is_exception(without_collector_prefix(failure.line));
}

// SIGTERM is how schedulers and launchers end processes that did nothing wrong: it says no more
// than that somebody else had a reason.
bool tells_of_sigterm(const LogEvent& failure) {
  return failure.cause == "task_killed" &&
         holds_any(failure.line,
                   {"SIGTERM", "got signal: 15", ": Terminated", "Received 15 death"});
}

// "pyxis: child 28 terminated with signal 15": while a node unpacked its image, ranks of another
// ended the step.
bool tells_of_a_killed_import(const LogEvent& failure) {
  return failure.cause == "container_error" && holds_any(failure.line, {"pyxis: child "}) &&
         holds_any(failure.line, {" terminated with signal "});
}

// torchrun's table ("traceback : Signal 9 (SIGKILL) received by PID 123"), DeepSpeed's runner
// ("exits with return code = -9"), mpirun ("exited on signal 9"), a shell ("line 4: 41 Killed").
bool names_the_signal_of_a_worker(const LogEvent& failure) {
  return holds_any(failure.line, {") received by PID", "return code = ", "(exitcode: ",
                                  "exited on signal ", ": line ", "(core dumped)"});
}

// "ValueError: …": a rank's own words, which do not tell of other ranks.
bool is_own_exception(const LogEvent& failure) {
  if (failure.cause != "python_exception") return false;
  constexpr std::array<std::string_view, 6> kOfOthers = {
      "torch.distributed.", "NCCL", "gloo", "Gloo", "Store", "Rendezvous"};
  return std::none_of(kOfOthers.begin(), kOfOthers.end(), [&](std::string_view word) {
    return failure.line.find(word) != std::string::npos;
  });
}

// "RuntimeError: mat1 and mat2 shapes cannot be multiplied": of the model's own tensors.
bool is_of_own_tensors(const LogEvent& failure) {
  if (!is_own_exception(failure)) return false;
  return without_collector_prefix(failure.line).starts_with("RuntimeError: ") &&
         holds_any(failure.line,
                   {"shapes cannot be multiplied", "he size of tensor a ", "izes of tensors must",
                    "is invalid for input of size", "to be on the same device",
                    "to have the same dtype", "does not require grad"});
}

// "ZeroDivisionError: …": a mistake of the program's own, which no other rank can bring about.
bool is_own_mistake(const LogEvent& failure) {
  if (is_of_own_tensors(failure)) return true;
  if (!is_own_exception(failure)) return false;
  constexpr std::array<std::string_view, 8> kMistakes = {
      "ZeroDivisionError: ", "KeyError: ",  "TypeError: ",  "AttributeError: ",
      "IndexError: ",        "NameError: ", "ValueError: ", "UnboundLocalError: "};
  const std::string_view line = without_collector_prefix(failure.line);
  return std::any_of(kMistakes.begin(), kMistakes.end(),
                     [&](std::string_view type) { return line.starts_with(type); });
}

// "[Rank 18] Some NCCL operations have failed or timed out", "Exception (either an error or
// timeout) detected by watchdog at work", and then "Timeout at NCCL work" for both, or "Observed
// flight recorder dump signal from another rank"; of JAX "Barrier timed out." without its name:
// others say which.
bool leaves_open_which(const LogEvent& failure) {
  const bool is_of_nccl = failure.cause == "nccl_timeout" || failure.cause == "nccl_error";
  return is_of_nccl &&
         (failure.line.ends_with("Barrier timed out.") ||
          holds_any(failure.line, {" have failed or timed out", "Timeout at NCCL work",
                                   "(either an error or timeout)", " dump signal "}));
}

// "CheckpointException ranks:dict_keys([17])": those ranks say what went wrong.
bool names_ranks_only(const LogEvent& failure) {
  return failure.cause == "checkpoint_unreadable" && holds_any(failure.line, {"ranks:dict_keys("});
}

// "KeyError: 'x'": its class was told by where it was raised, not by what it says.
bool is_told_by_place(const LogEvent& failure) {
  constexpr std::array<std::string_view, 4> kOfPlaces = {"configuration_error",
                                                         "tokenizer_or_data_missing",
                                                         "checkpoint_unreadable", "missing_module"};
  const bool may_be =
      std::find(kOfPlaces.begin(), kOfPlaces.end(), failure.cause) != kOfPlaces.end();
  return may_be && cause_of_exception(without_collector_prefix(failure.line)) == "python_exception";
}

// A device's word of kernels that it was given before: which of them failed, and why, others say.
bool tells_of_earlier_kernels(const LogEvent& failure) {
  return failure.cause == "cuda_error" &&
         holds_any(failure.line, {"AclrtSynchronize", "ACL stream synchronize failed"});
}

// What a step daemon could not do, other than start the program: others say why.
bool is_complaint(const LogEvent& failure) {
  if (weight_of(failure.line) == LineWeight::complaint) return true;
  return failure.cause == "srun_launch_error" && holds_any(failure.line, {"slurmstepd: error: "}) &&
         !holds_any(failure.line, {"execve"});
}

// "Exception in thread Thread-6 (_report_usage): gaierror: …": of a helper, and the program goes
// on; not where the thing itself is told.
bool ends_a_helper(const LogEvent& failure, CauseDepth depth) {
  return depth > CauseDepth::likely_root && holds_any(failure.line, {"Exception in thread "});
}

// A launcher, a scheduler or a shell saw a process end, and not because others had ended.
bool tells_of_a_death(const LogEvent& failure) {
  return failure.cause == "child_failed" ||
         (failure.cause == "task_killed" && !tells_of_sigterm(failure));
}

// "RendezvousTimeoutError": others never came, and what kept them is theirs to tell.
bool waits_for_who_never_came(const LogEvent& failure) {
  return failure.cause == "rendezvous_failure" &&
         holds_any(failure.line, {"RendezvousTimeoutError", " clients joined"});
}

// "*** STEP 12.0 ON n4 CANCELLED AT … ***": Slurm does so, too, once a task has failed.
bool is_ended_step(const LogEvent& failure) {
  return failure.cause == "cancelled" && holds_any(failure.line, {"slurmstepd: "}) &&
         !holds_any(failure.line, {" DUE TO "});
}

// And then why the scheduler did so: "*** JOB 12 ON n4 CANCELLED AT … DUE TO PREEMPTION ***". Of
// LSF: "Exited with exit code 130.", and then "Completed <exit>; TERM_OWNER: job killed by owner;".
bool names_the_reason(const LogEvent& failure, const LogEvent& end) {
  if (!ends_from_outside(failure)) return false;
  if (is_ended_step(end)) return holds_any(failure.line, {" DUE TO "});
  // It sends SIGINT first, whoever ends the job; a launcher that is ended so leaves a traceback
  // which names no exception.
  const bool is_of_lsf = end.cause == "interrupted" || end.cause == "python_traceback" ||
                         holds_any(end.line, {"Exited with exit code "});
  return is_of_lsf && holds_any(failure.line, {"TERM_"});
}

// "srun: error: node-8: task 61: Killed", and nobody had ended the step: from outside, as the
// kernel does where memory runs out.
bool tells_of_a_kill(const LogEvent& failure) {
  return failure.cause == "task_killed" &&
         holds_any(failure.line, {": Killed", "ignal: killed", "SIGKILL"});
}

// "terminate called after throwing an instance of 'c10::DistBackendError'", "task 137: Aborted": a
// rank ends itself, which ends no other rank yet.
bool ends_itself(const LogEvent& failure) {
  return holds_any(failure.line, {"terminate called ", ": Aborted"});
}

// "srun: error: node-8: task 60: Segmentation fault": Slurm's word about a task's end.
bool tells_of_a_task(const LogEvent& failure) {
  return holds_any(failure.line, {"srun: error: "}) && holds_any(failure.line, {": task "});
}

// Whether `failure` may be what other ranks see of a rank's end that was told before.
bool may_follow(const LogEvent& failure, const LogEvent& before) {
  // What the driver noted of a process is not what others saw of it.
  if (failure.cause == "gpu_process_error") return false;
  const bool is_loss = depth_of(failure) == CauseDepth::peer_lost;
  if (!is_loss && failure.cause != "nccl_timeout" && failure.cause != "gloo_error") return false;
  return is_own_exception(before) || tells_of_a_kill(before) ||
         (is_loss && tells_of_a_death(before));
}

// What ranks say whose collectives another one does not join.
bool is_of_collectives(const LogEvent& failure) {
  constexpr std::array<std::string_view, 4> kCauses = {"nccl_timeout", "nccl_error", "gloo_error",
                                                       "peer_lost"};
  return std::find(kCauses.begin(), kCauses.end(), failure.cause) != kCauses.end();
}

// That others went, or do not come.
bool tells_of_other_ranks(const LogEvent& failure) {
  return depth_of(failure) == CauseDepth::peer_lost || is_of_collectives(failure);
}

// And that behind the word that a process has ended by itself, or was killed.
bool follows_from_a_death(const LogEvent& failure, const LogEvent* death) {
  return tells_of_other_ranks(failure) && death != nullptr && death->offset < failure.offset &&
         (tells_of_an_own_end(*death) || tells_of_a_death(*death));
}

// Collectives that wait for a rank, and a program that waits for its own thread. Before the first
// step an error of the network says more than that somebody did not come.
bool tells_of_a_wait(const LogEvent& failure) {
  return failure.cause == "nccl_timeout" ||
         (failure.cause == "python_exception" && failure.line.ends_with("queue.Empty")) ||
         (failure.steps_before > 0 && is_of_collectives(failure));
}

// "WARNING saver-thread: … Disk quota exceeded", "UserWarning: CUDA initialization: The NVIDIA
// driver on your system is too old": what may keep a rank from coming, or a program from its GPUs.
bool warns_of_what_may_stop(const LogEvent& failure) {
  constexpr std::array<std::string_view, 4> kReasons = {"disk_full_or_quota", "file_system_error",
                                                        "gpu_hardware_error", "gpu_unavailable"};
  return std::find(kReasons.begin(), kReasons.end(), failure.cause) != kReasons.end() &&
         depth_of(failure) == CauseDepth::survivable;
}

// Of who asks for a device where a driver was said to be too old: there is none.
bool lacks_devices(const LogEvent& failure) {
  return failure.cause == "gpu_unavailable" ||
         holds_any(failure.line, {"number of available GPUs", "invalid device ordinal",
                                  "CUDA is not available", "torch.cuda.is_available()"});
}

bool follows_from_warning(const LogEvent& failure, const LogEvent& warned) {
  return warned.cause == "gpu_unavailable" ? lacks_devices(failure) : tells_of_a_wait(failure);
}

// Of a script that looks for what the run should have left behind.
bool may_be_of_what_collects(const LogEvent& failure) {
  constexpr std::array<std::string_view, 4> kOfScripts = {
      "tokenizer_or_data_missing", "missing_module", "file_system_error", "python_exception"};
  const bool may_be =
      std::find(kOfScripts.begin(), kOfScripts.end(), failure.cause) != kOfScripts.end();
  return may_be && may_be_of_a_script(failure);
}

// A kernel that waited for other ranks in vain ends itself by a trap, which every later call tells
// of as a fault of its own.
bool follows_from_a_trap(const LogEvent& failure, const LogEvent& chosen) {
  const bool is_fault = failure.cause == "illegal_memory_access" || failure.cause == "cuda_error";
  return is_fault && chosen.cause == "nccl_timeout" && holds_any(chosen.line, {"DeepEP"});
}

}  // namespace

CauseDepth depth_of(const LogEvent& failure) {
  const FailureClass* known = find_failure_class(failure.cause);
  if (known == nullptr) return CauseDepth::consequence;
  if (known->depth < CauseDepth::survivable && was_logged_as_warning(failure)) {
    return is_exception_in_a_note(failure) ? std::max(known->depth, CauseDepth::exception)
                                           : CauseDepth::survivable;
  }
  if (tells_of_sigterm(failure)) return CauseDepth::none;
  if (is_complaint(failure)) return CauseDepth::complaint;
  if (tells_of_a_killed_import(failure)) return CauseDepth::killed;
  if (leaves_open_which(failure) || waits_for_who_never_came(failure) ||
      tells_of_earlier_kernels(failure)) {
    return CauseDepth::peer_lost;
  }
  if (ends_a_helper(failure, known->depth)) {
    return std::max(known->depth, CauseDepth::worker_failed);
  }
  // mpirun's daemons: ssh or a shell said before why not, or who lost the node's processes says
  // behind it what ended them.
  if (holds_any(failure.line, {"ORTE was unable to", "ORTE has lost communication with"})) {
    return CauseDepth::communication;
  }
  if (known->depth == CauseDepth::killed && names_the_signal_of_a_worker(failure)) {
    return CauseDepth::worker_signal;
  }
  const bool is_likely = is_told_by_place(failure) || names_ranks_only(failure);
  if (known->depth == CauseDepth::root && is_likely) return CauseDepth::likely_root;
  return known->depth;
}

bool announces_end(const LogEvent& failure) {
  const FailureClass* known = find_failure_class(failure.cause);
  if (known == nullptr || was_logged_as_warning(failure)) return false;
  if (known->ends_run_over) return true;
  return known->depth == CauseDepth::worker_failed || known->depth == CauseDepth::killed ||
         known->depth == CauseDepth::consequence;
}

bool says_no_reason(const LogEvent& failure) {
  return announces_end(failure) && depth_of(failure) >= CauseDepth::worker_failed;
}

bool explains(const LogEvent& last_word, const FirstCause& cause) {
  if (cause.chosen() == nullptr) return false;
  const LogEvent& ending = *cause.chosen();
  if (says_no_reason(ending)) return true;
  if (depth_of(last_word) != CauseDepth::root) return false;
  // A program may catch what else it meets, and go on; not where it is told dead next.
  const LogEvent* const death = cause.first_end();
  const bool is_told_dead = death != nullptr && last_word.offset < death->offset;
  if (is_told_dead && follows_from_a_death(ending, death)) return true;
  return last_word.cause == "gpu_hardware_error" && tells_of_other_ranks(ending);
}

bool misses_others(const LogEvent& failure) {
  return waits_for_who_never_came(failure) ||
         (failure.cause == "rendezvous_failure" &&
          holds_any(failure.line, {"RendezvousConnectionError", "RendezvousClosedError"}));
}

bool may_be_last_word(const LogEvent& failure, bool is_before_first_step) {
  const CauseDepth depth = depth_of(failure);
  if (!is_before_first_step) return depth < CauseDepth::worker_signal;
  const bool is_of_start =
      failure.cause == "srun_launch_error" || failure.cause == "container_error";
  return depth == CauseDepth::root && !is_of_start;
}

void FirstCause::begin_attempt() {
  of_earlier_attempts_ = chosen();
  chosen_ = nullptr;
  depth_ = CauseDepth::none;
  first_end_ = warned_ = nullptr;
  is_over_ = was_torn_down_ = went_on_ = false;
}

void FirstCause::go_on(const LogEvent& event) {
  // What ended an attempt before the one that counts now was overcome.
  const bool is_of_former = was_restarted_ && chosen_ == nullptr;
  begin_attempt();
  if (is_of_former) of_earlier_attempts_ = nullptr;
  const LogEvent* const earlier = of_earlier_attempts_;
  // A helper's complaint and its survival are one line: whoever ends next, ends by it.
  if (earlier != nullptr && !may_be_last_word(*earlier, false) && earlier->offset != event.offset) {
    of_earlier_attempts_ = nullptr;
  }
  went_on_ = true;
}

const LogEvent* FirstCause::chosen() const {
  if (chosen_ == nullptr) return went_on_ ? nullptr : of_earlier_attempts_;
  // What counts may go on for long before processes are ended.
  const bool may_repeat =
      of_earlier_attempts_ != nullptr &&
      (!ends_from_outside(*of_earlier_attempts_) || (went_on_ && tells_of_sigterm(*chosen_)));
  const bool says_less = says_no_reason(*chosen_) || (!went_on_ && misses_others(*chosen_)) ||
                         (went_on_ && follows_from_a_death(*chosen_, first_end_));
  return may_repeat && says_less ? of_earlier_attempts_ : chosen_;
}

void FirstCause::offer(const LogEvent& failure) {
  if (failure.cause == kRestarted) {
    was_restarted_ = true;
    return begin_attempt();
  }
  if (failure.cause == kWentOn) return go_on(failure);
  if (is_over_) {
    if (names_the_reason(failure, *chosen_)) chosen_ = &failure;
    return;
  }
  const bool is_first_end =
      first_end_ == nullptr && announces_end(failure) && !ends_itself(failure);
  if (is_first_end) first_end_ = &failure;
  if (warns_of_what_may_stop(failure)) warned_ = &failure;
  if (chosen_ != nullptr && follows_from_a_trap(failure, *chosen_)) return;
  // What crashes while the step that an exception ended is taken down.
  const bool has_raised = chosen_ != nullptr && is_own_exception(*chosen_);
  if (was_torn_down_ && has_raised && tells_of_a_task(failure)) return;
  const bool is_behind_end =
      first_end_ != nullptr && !is_first_end && depth_ <= CauseDepth::exception;
  if (chosen_ != nullptr && is_behind_end && may_be_of_what_collects(failure)) return;
  const FailureClass* known = find_failure_class(failure.cause);
  const CauseDepth depth = depth_of(failure);
  const bool may_be_explained =
      depth == CauseDepth::survivable || depth == CauseDepth::communication;
  if (known != nullptr && known->ends_run_over && !may_be_explained) {
    const bool is_teardown = chosen_ != nullptr && depth_ < *known->ends_run_over &&
                             depth_ != CauseDepth::complaint && depth_ != CauseDepth::survivable &&
                             !names_the_reason(failure, *chosen_);
    was_torn_down_ = was_torn_down_ || is_teardown;
    if (is_teardown) return;
    // A task had failed, and nothing better than a complaint was said before.
    const bool follows = is_ended_step(failure) && first_end_ != nullptr &&
                         tells_of_a_task(*first_end_) && !tells_of_sigterm(*first_end_);
    chosen_ = follows ? first_end_ : &failure;
    is_over_ = true;
    return;
  }
  // The last line of the traceback that was seen before.
  const bool ends_traceback = depth == CauseDepth::none && depth_ == CauseDepth::traceback &&
                              failure.line.find("SignalException") != std::string::npos;
  // The kill explains why it was lost.
  const bool explains = is_first_end && depth_ == CauseDepth::peer_lost && tells_of_a_kill(failure);
  // Others printed first that they had lost the rank, or had waited for it. Whoever is taken down
  // then may raise what looks like a mistake, but multiplies no tensors.
  const bool is_of_lost = depth_ == CauseDepth::peer_lost && is_own_mistake(failure);
  const bool is_of_late =
      chosen_ != nullptr && chosen_->cause == "nccl_timeout" && is_of_own_tensors(failure);
  const bool tells_more = ends_traceback || explains || is_of_lost || is_of_late;
  if (chosen_ != nullptr && depth >= depth_ && !tells_more) return;
  // That a worker failed, or the head of a traceback, says less than the death that was told
  // before.
  const bool says_less = depth == CauseDepth::worker_failed || depth == CauseDepth::traceback;
  if (says_less && chosen_ != nullptr && tells_of_a_death(*chosen_)) return;
  // That others lost it, or wait for it, follows from what ended the rank.
  if (chosen_ != nullptr && may_follow(failure, *chosen_)) return;
  // So does it where a driver noted of a process what ended it.
  const bool was_noted = chosen_ != nullptr && chosen_->cause == "gpu_process_error";
  if (was_noted && follows_from_a_death(failure, first_end_)) return;
  // Not a step came behind the warning: half an hour later others wait no longer.
  const bool was_warned = warned_ != nullptr && warned_->steps_before == failure.steps_before;
  const bool explains_more =
      chosen_ == warned_ && depth_ < CauseDepth::survivable && is_of_collectives(failure);
  const bool is_of_warned =
      was_warned && (follows_from_warning(failure, *warned_) || explains_more);
  chosen_ = is_of_warned ? warned_ : &failure;
  depth_ = depth;
}

}  // namespace llmb::parser
