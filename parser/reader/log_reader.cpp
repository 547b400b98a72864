#include "parser/reader/log_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parser/dialects/aftermath.h"
#include "parser/dialects/checkpoint.h"
#include "parser/dialects/counting_line.h"
#include "parser/dialects/dialect.h"
#include "parser/dialects/event_bearing.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/failure_class.h"
#include "parser/dialects/interruption_signs.h"
#include "parser/dialects/nccl_line.h"
#include "parser/dialects/nccl_trace.h"
#include "parser/dialects/rank_reports.h"
#include "parser/dialects/stated_configuration.h"
#include "parser/dialects/traceback_reader.h"
#include "parser/dialects/unended_number.h"
#include "parser/dialects/wanted_literals.h"
#include "parser/foundation/text.h"
#include "parser/lines/line_cleaner.h"
#include "parser/lines/line_filter.h"
#include "parser/lines/line_prefix.h"
#include "parser/lines/log_content.h"
#include "parser/reader/recent_bytes.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kStateVersion = "llmb-log-reader-34";
constexpr std::size_t kRefusedBytesMax = 500;
using RefusalCounts = std::array<std::int64_t, kLineRefusalCount>;

Dialect dialect_of(LogContent content) {
  switch (content) {
    case LogContent::text:
      break;
    case LogContent::utf_16:
      return Dialect::utf_16;
    case LogContent::compressed:
      return Dialect::compressed;
    case LogContent::binary:
      return Dialect::binary;
  }
  return Dialect::unknown;
}

// Whether cleaning took off more of the line than what stands before its first literal.
bool has_lost_bytes(const Line& line, std::string_view cleaned) {
  const std::size_t before = line.bytes.size() - cleaned.size();
  return before > line.first_hit || line.bytes.substr(before).data() != cleaned.data();
}

}  // namespace

struct LogReader::Impl {
  explicit Impl(std::uint64_t offset = 0, bool in_dropped_line = false)
      : start_offset(offset),
        filter(wanted.scanner(), offset, LineFilter::kLineBytesMax, in_dropped_line),
        recent(offset) {
    filter.hand_on_every_line(wants_every_line());
  }

  void feed(std::string_view bytes);
  // Of UTF-16 some lines would be found, and others not: none is looked for.
  bool is_passed_over() const { return probe.content() == LogContent::utf_16; }
  std::uint64_t bytes_read() const { return start_offset + filter.bytes_fed() + bytes_passed_over; }
  std::uint64_t committed_offset() const {
    return is_passed_over() ? bytes_read() : filter.committed_offset();
  }
  void read_line(const Line& line);
  void read_words(const Line& line);
  // A trace is one such line after the other.
  std::size_t read_run(std::string_view lines) {
    return nccl.is_empty() ? 0 : nccl.read_run(lines);
  }
  void offer(const Record& record, std::string_view printed);
  void read_failures(const Record& record, std::string_view raw);
  void look_back(const Record& head, std::string_view raw);
  void read_aftermath(const Record& record);
  bool wants_every_line() const {
    return tracebacks.wants_every_line() || aftermath.wants_every_line();
  }
  // Finds those of the table that the line may have.
  bool has_signs(const SignIndex& table) {
    if (!found.intersects(table.literals())) return false;
    table.find(found, signs);
    return true;
  }
  // `line` holds NcclTraceReader::kLiteral.
  NcclTraceReader::Outcome read_nccl_trace(std::string_view line);
  void keep_refused(std::uint64_t offset, std::string_view printed, const RefusalCounts& before);
  void choose(std::size_t reader);
  void save_probe(StateWriter& state) const;
  void restore_probe(StateReader& state);
  void restore_readers(StateReader& state);
  void update_facts();

  const WantedLiterals& wanted = WantedLiterals::instance();
  std::uint64_t start_offset;
  LineFilter filter;
  RecentBytes recent;  // as long as no dialect is chosen
  LogContentProbe probe;
  std::uint64_t bytes_passed_over = 0;
  StepLedger ledger;
  NcclTraceReader nccl;
  RankReportReader ranks;
  TracebackReader tracebacks;
  Aftermath aftermath;
  UnendedNumber unended;
  // All dialects until one yields a step; then that one alone.
  std::vector<std::unique_ptr<DialectReader>> readers = make_dialect_readers();
  bool is_chosen = false;
  std::size_t chosen_index = 0;            // in make_dialect_readers()
  std::int64_t lines_too_long_before = 0;  // those of the readers that this one goes on from
  std::array<std::vector<RefusedLine>, kLineRefusalCount> refused;  // by reason
  std::string scratch;
  LiteralSet found = wanted.none();  // in what is being read
  std::vector<std::uint16_t> signs;  // of one table, by what was found
};

void LogReader::Impl::feed(std::string_view bytes) {
  // Up to here no line can be a step's.
  const std::size_t missing = probe.bytes_to_utf_16();
  if (missing > 0 && bytes.size() > missing) {
    feed(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
  }
  probe.feed(bytes);
  if (is_passed_over()) {
    bytes_passed_over += bytes.size();
    return;
  }
  // Of a program that is known the steps tell how far it has come.
  if (!is_chosen) recent.begin_block(bytes);
  filter.feed(
      bytes, [this](const Line& line) { read_line(line); },
      [this](std::string_view lines) { return read_run(lines); });
  if (!is_chosen) recent.end_block();
}

void LogReader::Impl::read_line(const Line& line) {
  wanted.find_in(line.bytes, found, line.first_hit);
  if (!found.intersects(wanted.of_nccl_trace())) return read_words(line);
  const auto outcome = read_nccl_trace(line.bytes);
  if (outcome == NcclTraceReader::Outcome::no_trace) return read_words(line);
  if (outcome == NcclTraceReader::Outcome::whole) return;
  const std::string others = without_nccl_calls(line.bytes);
  wanted.find_in(others, found);
  read_words({.bytes = others, .offset = line.offset, .first_hit = 0});
}

// `found`: what they hold.
void LogReader::Impl::read_words(const Line& line) {
  const Record record{clean_line(line.bytes, scratch), line.offset};
  if (has_lost_bytes(line, record.text)) wanted.find_in(record.text, found);
  const std::int64_t steps_before = ledger.step_count();
  // What follows of failures is told by the line's words, which stay as they are.
  const Record whole =
      ledger.log_ends_within() ? Record{unended.whole_part(record.text), record.offset} : record;
  ledger.see_line(line.bytes);
  offer(whole, record.text);
  ledger.see_line({});
  if (aftermath.wants_every_line() && ledger.step_count() != steps_before) {
    aftermath.end();
    filter.hand_on_every_line(wants_every_line());
  }
  read_failures(record, line.bytes);
  if (has_signs(wanted.of_checkpoints())) {
    if (const auto checkpoint = read_checkpoint(whole, signs)) {
      ledger.add_checkpoint(checkpoint->event, checkpoint->is_of_next_step);
      if (checkpoint->event.kind == CheckpointEvent::Kind::load)
        ledger.add_event(failure_of_line(record, line.bytes, kStarted));
    }
  }
  if (has_signs(wanted.of_interruptions())) {
    if (const auto sign = read_interruption(record, signs)) {
      ledger.see_interruption(*sign, record.offset);
    }
  }
  if (found.intersects(wanted.of_rank_reports())) ranks.read(whole, line.bytes.size());
  if (found.intersects(wanted.of_stated_configuration())) {
    for (StatedValue& value : read_stated_configuration(whole)) {
      // Other values are echoed by scripts, too.
      if (value.key == "gpu_count") ledger.add_event(failure_of_line(record, line.bytes, kStarted));
      ledger.add_stated(std::move(value));
    }
  }
}

void LogReader::Impl::read_failures(const Record& record, std::string_view raw) {
  const bool may_fail = has_signs(wanted.of_failures());
  if (!may_fail && !wants_every_line()) return;
  auto event = may_fail ? read_failure(record, raw, signs) : std::nullopt;
  if (event && event->cause == kTrainingOver) {
    ledger.see_end_of_training();
    event.reset();
  }
  if (event && event->cause == "python_traceback") look_back(record, raw);
  const bool is_event = event.has_value();
  if (is_event && aftermath.counts_behind_an_end() && is_no_teardown(*event)) {
    LogEvent attempt = *event;
    attempt.cause = kWentOn;
    ledger.add_event(std::move(attempt));
  }
  const std::int64_t kept_before = ledger.failures_kept();
  if (event || tracebacks.wants_every_line() || announces_traceback(record.text)) {
    ledger.see_label_of_task(has_label_of_task(raw));
    tracebacks.read(record, raw, std::move(event), ledger);
  }
  if (ledger.failures_kept() != kept_before) {
    aftermath.begin(ledger.end_from_outside());
  } else if (!is_event && aftermath.wants_every_line()) {
    read_aftermath(record);
  }
  filter.hand_on_every_line(wants_every_line());
}

// Before a traceback a program may have counted to its end.
void LogReader::Impl::look_back(const Record& head, std::string_view raw) {
  const bool may_tell = !is_chosen && raw.size() <= RecentBytes::kLineBytesMax;
  if (!may_tell || ledger.all_is_trained()) return;
  if (has_counted_to_the_end(recent.before(head.offset))) ledger.see_end_of_training();
}

void LogReader::Impl::read_aftermath(const Record& record) {
  // "[00010] loss=8.54": what else would be a rank's label may be the count.
  const std::string_view text = without_collector_prefix(record.text, NumberPrefix::kept);
  // Of a program that is known its steps tell that it goes on.
  const Aftermath::Sign sign = aftermath.read(text, !is_chosen);
  if (sign == Aftermath::Sign::none) return;
  LogEvent event;
  event.line = shortened_line(trimmed(record.text));
  event.offset = record.offset;
  if (sign != Aftermath::Sign::ended_well) {
    event.cause = kWentOn;
    ledger.add_event(event);
  }
  if (sign == Aftermath::Sign::goes_on) return;
  event.kind = LogEvent::Kind::finish_marker;
  event.cause = kEndedWell;
  ledger.add_event(std::move(event));
}

NcclTraceReader::Outcome LogReader::Impl::read_nccl_trace(std::string_view line) {
  const NcclTraceReader::Outcome outcome = nccl.read(line);
  const bool is_trace = outcome != NcclTraceReader::Outcome::no_trace;
  if (is_trace || line.find(kNcclInfo) != std::string_view::npos) ledger.see_nccl_trace();
  return outcome;
}

// `printed`: the record as the log has it, where a number at its end was left out.
void LogReader::Impl::offer(const Record& record, std::string_view printed) {
  const std::int64_t steps_before = ledger.step_count();
  bool is_seen = false;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (!found.intersects(wanted.of_dialect(is_chosen ? chosen_index : i))) continue;
    if (!std::exchange(is_seen, true)) unended.see(record.text);
    const RefusalCounts before = ledger.refusals();
    readers[i]->read(record, ledger);
    const bool is_cut_step =
        record.text.size() < printed.size() && ledger.step_count() > steps_before;
    if (is_cut_step && ledger.refusals() == before) ledger.refuse_line(LineRefusal::fields_cut_off);
    if (ledger.refusals() != before) keep_refused(record.offset, printed, before);
    if (!is_chosen && ledger.step_count() > 0) return choose(i);
  }
}

void LogReader::Impl::keep_refused(std::uint64_t offset, std::string_view printed,
                                   const RefusalCounts& before) {
  for (std::size_t i = 0; i < kLineRefusalCount; ++i) {
    std::vector<RefusedLine>& samples = refused[i];
    if (ledger.refusals()[i] == before[i] || samples.size() == kRefusedSamplesMax) continue;
    // Several readers may refuse one line, until a dialect is chosen.
    if (!samples.empty() && samples.back().offset == offset) continue;
    samples.push_back({offset, std::string(printed.substr(0, kRefusedBytesMax))});
  }
}

void LogReader::Impl::choose(std::size_t reader) {
  std::unique_ptr<DialectReader> chosen = std::move(readers[reader]);
  readers.clear();
  readers.push_back(std::move(chosen));
  is_chosen = true;
  chosen_index = reader;
}

// Of a log as long as most are, what its first bytes told; else those that are not fed again.
void LogReader::Impl::save_probe(StateWriter& state) const {
  const bool is_told = committed_offset() >= LogContentProbe::kBytesMax;
  state.boolean(is_told);
  if (is_told) {
    state.integer(static_cast<int>(probe.content()));
  } else {
    state.text(probe.bytes().substr(0, committed_offset()));
  }
}

void LogReader::Impl::restore_probe(StateReader& state) {
  if (!state.boolean()) return probe.feed(state.text());
  const std::int64_t told = state.integer();
  if (told < 0 || told > static_cast<int>(LogContent::binary)) return state.fail();
  probe = LogContentProbe(static_cast<LogContent>(told));
}

// Each by its name: a dialect that is new since the state was saved begins afresh.
void LogReader::Impl::restore_readers(StateReader& state) {
  const bool one_is_chosen = state.boolean();
  const auto kinds = dialect_reader_kinds();
  const std::size_t saved_count = state.count(kinds.size());
  if (one_is_chosen && saved_count != 1) return state.fail();
  for (std::size_t i = 0; i < saved_count; ++i) {
    const std::string name = state.text();
    const std::string saved = state.text();
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& other) { return other.name == name; });
    if (kind == kinds.end()) return state.fail();
    const auto index = static_cast<std::size_t>(kind - kinds.begin());
    StateReader own(saved);
    readers[index]->restore(own);
    if (own.failed() || !own.at_end()) return state.fail();
    if (one_is_chosen) choose(index);
  }
}

void LogReader::Impl::update_facts() {
  LogFacts& facts = ledger.facts();
  facts.dialect = is_chosen ? readers.front()->dialect() : dialect_of(probe.content());
  facts.bytes_read = bytes_read();
  facts.lines_too_long = lines_too_long_before + filter.lines_too_long();
}

LogReader::LogReader() : impl_(std::make_unique<Impl>()) {}
LogReader::~LogReader() = default;
LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;

void LogReader::feed(std::string_view bytes) {
  impl_->feed(bytes);
  impl_->update_facts();
}

void LogReader::finish() {
  if (impl_->is_passed_over()) return;
  impl_->filter.finish([this](const Line& line) {
    impl_->ledger.see_unended_line();
    impl_->read_line(line);
  });
  for (std::size_t i = 0; i < impl_->readers.size(); ++i) {
    impl_->readers[i]->finish(impl_->ledger);
    if (!impl_->is_chosen && impl_->ledger.step_count() > 0) {
      impl_->choose(i);
      break;
    }
  }
  impl_->update_facts();
}

std::vector<StepSample> LogReader::take_samples() {
  return impl_->ledger.take_samples();
}
const LogFacts& LogReader::facts() const {
  // Sorting the table with every block would cost more than reading the lines.
  if (impl_->nccl.has_changed()) impl_->ledger.facts().nccl = impl_->nccl.take_snapshot();
  if (impl_->ranks.has_changed()) impl_->ledger.facts().ranks = impl_->ranks.take_snapshot();
  return impl_->ledger.facts();
}
std::vector<RefusedLines> LogReader::refused_lines() const {
  RefusalCounts counts = impl_->ledger.refusals();
  counts[static_cast<std::size_t>(LineRefusal::too_long)] = facts().lines_too_long;
  counts[static_cast<std::size_t>(LineRefusal::nccl_trace_torn)] = facts().nccl.torn_lines;
  std::vector<RefusedLines> lines;
  for (std::size_t i = 0; i < kLineRefusalCount; ++i) {
    if (counts[i] == 0) continue;
    lines.push_back({static_cast<LineRefusal>(i), counts[i], impl_->refused[i]});
  }
  return lines;
}
std::uint64_t LogReader::committed_offset() const {
  return impl_->committed_offset();
}

std::string LogReader::save_state() const {
  StateWriter state;
  state.text(kStateVersion);
  state.unsigned_integer(impl_->committed_offset());
  state.boolean(impl_->filter.in_dropped_line());
  impl_->save_probe(state);
  impl_->ledger.save(state);
  impl_->nccl.save(state);
  impl_->ranks.save(state);
  impl_->tracebacks.save(state);
  impl_->aftermath.save(state);
  impl_->unended.save(state);
  state.text(impl_->is_chosen ? std::string() : impl_->recent.before(impl_->committed_offset()));
  state.boolean(impl_->is_chosen);
  state.unsigned_integer(impl_->readers.size());
  for (std::size_t i = 0; i < impl_->readers.size(); ++i) {
    state.text(dialect_reader_kinds()[impl_->is_chosen ? impl_->chosen_index : i].name);
    StateWriter own;
    impl_->readers[i]->save(own);
    state.text(own.take());
  }
  return state.take();
}

Result<LogReader> LogReader::restore(std::string_view text) {
  StateReader state(text);
  if (state.text() != kStateVersion) {
    return fail("The saved state of a log's reader is not one of this version: read the log anew.");
  }
  const std::uint64_t offset = state.unsigned_integer();
  const bool in_dropped_line = state.boolean();
  LogReader reader;
  reader.impl_ = std::make_unique<Impl>(offset, in_dropped_line);
  Impl& impl = *reader.impl_;
  impl.restore_probe(state);
  impl.ledger.restore(state);
  impl.nccl.restore(state);
  impl.ranks.restore(state);
  impl.tracebacks.restore(state);
  impl.aftermath.restore(state);
  impl.unended.restore(state);
  impl.recent = RecentBytes(offset, state.text());
  impl.filter.hand_on_every_line(impl.wants_every_line());
  impl.lines_too_long_before = impl.ledger.facts().lines_too_long;
  impl.restore_readers(state);
  if (state.failed() || !state.at_end()) {
    return fail("The saved state of a log's reader is damaged: read the log anew.");
  }
  impl.update_facts();
  return reader;
}

ParsedLog parse_log(std::string_view bytes) {
  LogReader reader;
  reader.feed(bytes);
  reader.finish();
  ParsedLog log;
  merge_samples(log.samples, reader.take_samples());
  log.facts = reader.facts();
  return log;
}

void merge_samples(std::vector<StepSample>& into, std::vector<StepSample> later) {
  const auto key = [](const StepSample& sample) {
    return std::pair(sample.segment, sample.iteration);
  };
  const auto before = [&](const StepSample& a, const StepSample& b) { return key(a) < key(b); };
  into.insert(into.end(), std::make_move_iterator(later.begin()),
              std::make_move_iterator(later.end()));
  std::stable_sort(into.begin(), into.end(), before);
  // Of equal keys the last one stays.
  auto kept = into.begin();
  for (auto sample = into.begin(); sample != into.end(); ++sample) {
    const bool is_replaced = sample + 1 != into.end() && key(*sample) == key(*(sample + 1));
    if (is_replaced) continue;
    if (kept != sample) *kept = std::move(*sample);
    ++kept;
  }
  into.erase(kept, into.end());
}

}  // namespace llmb::parser
