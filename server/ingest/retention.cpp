#include "server/ingest/retention.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "parser/foundation/grouped_number.h"

namespace llmb::ingest {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::hours kInterval{24};
constexpr std::chrono::hours kAfterFailure{1};
constexpr std::chrono::milliseconds kLook{500};
constexpr std::chrono::milliseconds kShortestRest{20};
constexpr std::chrono::milliseconds kNoRoom{200};
constexpr std::chrono::seconds kBetweenNews{5};

using Count = storage::RemovalCount;

// Of which nothing would ever be removed, without a word.
void warn_of_unknown_root(storage::Reader& reader, const storage::RetentionPolicy& policy) {
  if (!policy.root) return;
  const auto roots = reader.roots();
  const bool is_known = std::any_of(roots.begin(), roots.end(),
                                    [&](const auto& root) { return root.path == *policy.root; });
  if (is_known) return;
  spdlog::warn("retention ({}): the database knows no tree of that path; `roots` has their paths",
               policy.words);
}

}  // namespace

Retention::Retention(std::vector<RetentionRule> rules, Links links)
    : rules_(std::move(rules)), links_(std::move(links)) {}

Retention::~Retention() {
  stop();
}

void Retention::start() {
  thread_ = std::thread([this] { run(); });
}

void Retention::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

RetentionStatus Retention::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Retention::rest(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  return stopped_.wait_for(lock, pause, [this] { return is_stopping_; });
}

void Retention::run() {
  auto next = SteadyClock::now();
  while (!rest(kLook)) {
    if (SteadyClock::now() < next || !links_.may_begin()) continue;
    pass();
    next = SteadyClock::now() +
           (status().error.empty() ? SteadyClock::duration(kInterval) : kAfterFailure);
  }
}

void Retention::pass() {
  const auto now = std::chrono::floor<parser::Instant::duration>(std::chrono::system_clock::now());
  {
    const std::lock_guard lock(mutex_);
    status_.is_removing = true;
    status_.error.clear();
  }
  try {
    for (const RetentionRule& rule : rules_) apply(rule(now), now);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  const std::lock_guard lock(mutex_);
  status_.is_removing = false;
  if (status_.error.empty() && !is_stopping_) status_.passed_at = parser::instant_text(now);
}

void Retention::fail(const char* error) {
  spdlog::error("retention is put off for an hour: {}", error);
  const std::lock_guard lock(mutex_);
  status_.error = error;
}

void Retention::apply(const storage::RetentionPolicy& policy, parser::Instant now) {
  const auto began = SteadyClock::now();
  auto told_at = began;
  Count removed;
  storage::Reader reader(links_.database_path);
  warn_of_unknown_root(reader, policy);
  storage::Removal removal(reader.removal_plan(policy, now));
  for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
    const auto asked_at = SteadyClock::now();
    const auto some = remove(policy, {logs.begin(), logs.end()}, now);
    if (!some) break;
    removed += *some;
    {
      const std::lock_guard lock(mutex_);
      status_.removed += *some;
    }
    const auto done_at = SteadyClock::now();
    if (done_at - told_at >= kBetweenNews) {
      told_at = done_at;
      links_.on_removed();
    }
    const auto took = std::chrono::ceil<std::chrono::milliseconds>(done_at - asked_at);
    if (rest(std::max(kShortestRest, took))) break;
  }
  if (removed.runs == 0) return;
  links_.on_removed();
  const std::chrono::duration<double> took = SteadyClock::now() - began;
  spdlog::info("retention ({}): {} {} runs with {} steps and {} bytes of logs' text, in {:.1f} s",
               policy.words, policy.only_log_text ? "removed the text of" : "removed",
               parser::grouped(removed.runs), parser::grouped(removed.steps),
               parser::grouped(static_cast<std::int64_t>(removed.log_text_bytes)), took.count());
}

std::optional<Count> Retention::remove(const storage::RetentionPolicy& policy,
                                       const std::vector<storage::RunId>& logs,
                                       parser::Instant now) {
  auto promise = std::make_shared<std::promise<Count>>();
  auto count = promise->get_future();
  const auto task = [&] {
    return [promise, policy, logs, now](storage::Writer& writer) {
      try {
        promise->set_value(writer.remove_logs(policy, logs, now));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    };
  };
  while (!links_.write(task())) {
    if (rest(kNoRoom)) return std::nullopt;
  }
  promise.reset();  // the task has it: where ingest stops, both are dropped
  while (count.wait_for(kShortestRest) != std::future_status::ready) {
    if (rest(std::chrono::milliseconds(0))) return std::nullopt;
  }
  try {
    return count.get();
  } catch (const std::future_error&) {
    return std::nullopt;
  }
}

}  // namespace llmb::ingest
