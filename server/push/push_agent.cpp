#include "server/push/push_agent.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "parser/foundation/instant.h"
#include "server/push/log_texts.h"
#include "server/push/push_batches.h"
#include "server/push/push_link.h"
#include "storage/push_store.h"

namespace llmb::push {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using storage::PushVerdict;
using storage::RunId;

constexpr milliseconds kDeferredRest{20'000};
constexpr milliseconds kRefusedRest{600'000};
constexpr milliseconds kBetweenCounts{2'000};
constexpr int kCountingShare = 50;  // counting takes a fiftieth of the time at most
// Of this agent's, so that the server reads one while it writes another; but one where the server
// has no room for more, and for so long after.
constexpr std::size_t kRequestsAtOnce = 2;
constexpr milliseconds kOneAtATime{10'000};

struct Ready {
  Batch batch;
  std::string body;
  bool is_last = false;
};

struct Sent {
  Ready ready;
  std::future<LinkAnswer> answer;
};

}  // namespace

struct PushAgent::Impl {
  explicit Impl(PushOptions given)
      : options(std::move(given)),
        store(options.database_path),
        batches(store),
        texts(store, options.read_text,
              options.leaves_when_level ? milliseconds(0) : options.text_rest),
        link(options, store.store_id(), is_stopping) {}

  void run();
  // One request or comparison at most; then how long to rest.
  milliseconds turn();
  milliseconds compare();
  Ready ready_to_go(Batch batch) const;
  Ready gather();
  // While the server is at work on one batch, the next one is made ready, and may be sent beside
  // it.
  milliseconds send(Ready ready);
  bool may_send_beside() const;
  // Waits for that of the oldest request; for those of all where it is none to go on with.
  milliseconds take_answer();
  milliseconds take(Sent sent);
  milliseconds keep(const Ready& ready, const LinkAnswer& answer);
  // No steps were to be sent just now.
  milliseconds idle();
  milliseconds send_text(const std::vector<storage::LogBlockTelling>& blocks);
  milliseconds after_refusal(const Batch& batch, const LinkAnswer& answer);
  milliseconds fail(const std::string& trouble, std::optional<milliseconds> rest,
                    bool is_forbidden = false);
  milliseconds fail(const LinkAnswer& answer) {
    return fail(answer.trouble, answer.rest, answer.is_forbidden);
  }
  // A server answered; one that was started anew is compared with first.
  void note_answer(const std::string& answering_instance);
  void count_pending();
  void wait(milliseconds rest);

  const PushOptions options;
  std::atomic<bool> is_stopping = false;
  storage::PushStore store;
  PushBatches batches;
  LogTexts texts;
  PushLink link;
  std::string instance;  // that all was compared with; empty: none yet
  std::int64_t seen_revision = -1;
  bool has_more = true;
  bool has_left = false;                         // its last word was heard
  std::int64_t said_pending = 0;                 // what the server is told
  std::deque<Sent> under_way;                    // the oldest first
  std::optional<Ready> next;                     // gathered meanwhile
  Clock::time_point beside_from = Clock::now();  // a second request may be sent
  // Logs that the server would not take for now.
  std::unordered_map<RunId, Clock::time_point> resting_until;
  Clock::time_point spoke_at = Clock::now() - std::chrono::hours(1);
  Clock::time_point counts_at = Clock::now();  // again
  std::optional<parser::Instant> pending_since;
  milliseconds backoff{0};

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable stopped;
  PushStatus status;
  std::thread thread;
};

void PushAgent::Impl::run() {
  while (!is_stopping && !has_left) {
    milliseconds pause{0};
    try {
      pause = turn();
    } catch (const std::exception& error) {  // the database cannot be read or written just now
      pause = fail(error.what(), std::nullopt);
    }
    wait(pause);
  }
}

void PushAgent::Impl::wait(milliseconds rest) {
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, rest, [this] { return is_stopping.load(); });
}

void PushAgent::Impl::count_pending() {
  const auto began = Clock::now();
  if (began < counts_at) return;
  const std::int64_t pending = store.pending_count();
  const auto took = Clock::now() - began;
  counts_at = began + std::max<Clock::duration>(kBetweenCounts, kCountingShare * took);
  if (pending == 0) pending_since.reset();
  if (pending > 0 && !pending_since) {
    pending_since = std::chrono::floor<parser::Instant::duration>(std::chrono::system_clock::now());
  }
  link.say_behind(pending, pending_since);
  said_pending = pending;
  const bool has_texts = texts.is_level();
  const std::lock_guard lock(mutex);
  status.logs_pending = pending;
  status.lacks_text = !has_texts;
}

milliseconds PushAgent::Impl::fail(const std::string& trouble, std::optional<milliseconds> rest,
                                   bool is_forbidden) {
  if (is_stopping) return milliseconds(0);
  backoff = std::clamp(2 * backoff, options.retry_first, options.retry_longest);
  bool is_news = false;
  {
    const std::lock_guard lock(mutex);
    is_news = status.trouble != trouble;
    status.trouble = trouble;
    status.is_forbidden = is_forbidden;
    status.is_level = false;
  }
  if (is_news) spdlog::warn("pushing waits: {}", trouble);
  return rest.value_or(backoff);
}

milliseconds PushAgent::Impl::turn() {
  if (!under_way.empty()) {
    count_pending();  // where there is much to send, some is always under way
    return may_send_beside() ? send(*std::exchange(next, {})) : take_answer();
  }
  if (instance.empty()) {
    count_pending();  // of what no server has been asked for, too
    return compare();
  }
  const std::int64_t revision = store.data_revision();
  const bool is_due = Clock::now() - spoke_at >= options.heartbeat;
  const bool has_news = revision != seen_revision || has_more || options.leaves_when_level;
  if (!has_news && !is_due) return options.look_interval;
  seen_revision = revision;
  count_pending();
  Ready ready = next ? *std::exchange(next, {}) : gather();
  has_more = !ready.batch.logs.empty() || !resting_until.empty();
  if (ready.batch.logs.empty() && !is_due) return idle();
  return send(std::move(ready));
}

milliseconds PushAgent::Impl::idle() {
  const bool owes_the_news =
      said_pending > 0 && resting_until.empty() && !options.leaves_when_level;
  counts_at = Clock::now();
  count_pending();
  if (said_pending == 0 && owes_the_news) return send(ready_to_go({}));
  if (const auto blocks = texts.next(); !blocks.empty()) return send_text(blocks);
  const bool is_level = said_pending == 0 && texts.is_level();
  if (is_level && options.leaves_when_level) return send({{}, link.last_body(), true});
  has_more = !is_level;
  const std::lock_guard lock(mutex);
  status.is_level = is_level;
  return options.look_interval;
}

milliseconds PushAgent::Impl::send_text(const std::vector<storage::LogBlockTelling>& blocks) {
  const LinkAnswer answer = link.send_text(blocks);
  if (!answer.trouble.empty()) return fail(answer);
  texts.keep(answer.text_ends);
  spoke_at = Clock::now();
  has_more = true;
  note_answer(answer.instance);
  const std::lock_guard lock(mutex);
  status.text_blocks_taken +=
      static_cast<std::uint64_t>(std::count_if(answer.text_ends.begin(), answer.text_ends.end(),
                                               [](const auto& end) { return end.has_value(); }));
  status.texts_untaken = texts.untaken_count();
  return milliseconds(0);
}

// In pages, each compared before the next is asked for.
milliseconds PushAgent::Impl::compare() {
  store.begin_comparison();
  std::string first_instance;
  std::optional<RunId> page = 0;
  while (page) {
    const LinkAnswer answer = link.held_logs(*page);
    if (!answer.trouble.empty()) return fail(answer);
    if (first_instance.empty()) first_instance = answer.instance;
    if (answer.instance != first_instance) return milliseconds(0);  // started anew: from the first
    store.compare(answer.held);
    page = answer.next_after;
  }
  store.end_comparison();
  counts_at = Clock::now();
  instance = first_instance;
  has_more = true;
  resting_until.clear();
  return milliseconds(0);
}

Ready PushAgent::Impl::ready_to_go(Batch batch) const {
  std::string body = link.body(batch.packed);
  batch.packed.clear();
  return {std::move(batch), std::move(body), false};
}

Ready PushAgent::Impl::gather() {
  const auto now = Clock::now();
  std::erase_if(resting_until, [&](const auto& entry) { return entry.second <= now; });
  std::unordered_set<RunId> unanswered;
  for (const Sent& sent : under_way) {
    for (const ToldLog& log : sent.ready.batch.logs) unanswered.insert(log.run);
  }
  return ready_to_go(batches.next(
      [&](RunId run) { return resting_until.contains(run) || unanswered.contains(run); }));
}

milliseconds PushAgent::Impl::send(Ready ready) {
  Sent& sent = under_way.emplace_back();
  sent.ready = std::move(ready);
  sent.answer = std::async(std::launch::async, [this, body = std::move(sent.ready.body)]() mutable {
    return link.send(std::move(body));
  });
  if (sent.ready.batch.is_full) next = gather();
  if (next && next->batch.logs.empty()) next.reset();
  return may_send_beside() ? milliseconds(0) : take_answer();
}

bool PushAgent::Impl::may_send_beside() const {
  return next && under_way.size() < kRequestsAtOnce && Clock::now() >= beside_from;
}

milliseconds PushAgent::Impl::take_answer() {
  const auto take_oldest = [&] {
    Sent sent = std::move(under_way.front());
    under_way.pop_front();
    return take(std::move(sent));
  };
  milliseconds rest = take_oldest();
  while (rest > milliseconds(0) && !under_way.empty()) rest = std::max(rest, take_oldest());
  return rest;
}

milliseconds PushAgent::Impl::take(Sent sent) {
  const Batch& batch = sent.ready.batch;
  const LinkAnswer answer = sent.answer.get();
  if (!answer.trouble.empty()) next.reset();
  if (answer.is_refused) return after_refusal(batch, answer);
  if (answer.is_busy) {
    beside_from = Clock::now() + kOneAtATime;
    if (!under_way.empty()) return milliseconds(0);
  }
  if (!answer.trouble.empty()) return fail(answer);
  if (answer.results.size() != batch.logs.size()) {
    return fail("the server's answer is not as long as what it was told", std::nullopt);
  }
  spoke_at = Clock::now();
  return keep(sent.ready, answer);
}

milliseconds PushAgent::Impl::keep(const Ready& ready, const LinkAnswer& answer) {
  const Batch& batch = ready.batch;
  std::vector<storage::PushStore::Answer> answers;
  for (std::size_t i = 0; i < batch.logs.size(); ++i) {
    const ToldLog& log = batch.logs[i];
    const storage::PushResult& result = answer.results[i];
    if (result.verdict == PushVerdict::deferred) {
      resting_until[log.run] = Clock::now() + kDeferredRest;
    }
    answers.push_back({log.run, log.revision, log.end, result});
  }
  if (!answers.empty()) store.keep_answers(answers);
  batches.grow();
  note_answer(answer.instance);
  has_left = ready.is_last && !instance.empty();
  const bool has_all = batch.logs.empty() && said_pending == 0 && texts.is_level();
  has_more |= !has_all;
  const std::lock_guard lock(mutex);
  status.logs_answered += batch.logs.size();
  status.is_level = options.leaves_when_level ? has_left : has_all;
  return milliseconds(0);
}

void PushAgent::Impl::note_answer(const std::string& answering_instance) {
  backoff = milliseconds(0);
  if (answering_instance != instance) {  // all is compared first
    instance.clear();
    next.reset();
  }
  const std::lock_guard lock(mutex);
  if (!status.trouble.empty()) spdlog::info("pushing goes on; {} logs to go", status.logs_pending);
  status.trouble.clear();
  status.is_forbidden = false;
}

// Something in the batch is at fault: the logs are sent one by one, and that one rests.
milliseconds PushAgent::Impl::after_refusal(const Batch& batch, const LinkAnswer& answer) {
  if (batch.logs.size() != 1) {
    batches.divide(batch);
    return fail(answer.trouble, options.retry_first);
  }
  const ToldLog& log = batch.logs.front();
  resting_until[log.run] = Clock::now() + kRefusedRest;
  return fail(fmt::format("{} in {}: {}", log.relative_path, log.root_path, answer.trouble),
              options.retry_first);
}

PushAgent::PushAgent(PushOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

PushAgent::~PushAgent() {
  stop();
}

void PushAgent::start() {
  impl_->thread = std::thread([this] { impl_->run(); });
}

void PushAgent::stop() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_stopping = true;
  }
  impl_->stopped.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

PushStatus PushAgent::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->status;
}

}  // namespace llmb::push
