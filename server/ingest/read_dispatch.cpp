#include "server/ingest/read_dispatch.h"

#include "parser/layout/run_path.h"

namespace llmb::ingest {
namespace {

constexpr int kShrinkPolls = 3;

}  // namespace

void ReadDispatch::enqueue(FileIndex index) {
  FileState& file = files_.at(index);
  if (!files_.set_queued(file, true)) {
    file.is_changed_again = true;
    return;
  }
  files_.schedule(index, SteadyTime::max());
  ready_.push_back(index);
}

void ReadDispatch::enqueue_reread(FileIndex index) {
  files_.at(index).wants_reread = true;
  enqueue(index);
}

void ReadDispatch::dispatch(std::chrono::milliseconds retry) {
  while (!ready_.empty() && with_readers_ < open_files_max_) {
    const FileIndex index = ready_.front();
    FileState& file = files_.at(index);
    const bool is_asked_for = (file.wants_reread && file.is_packed_away()) || file.wants_rest();
    const bool is_gone = file.is_vanished && !is_asked_for;
    if (is_gone || root_.directory == nullptr) {
      files_.set_queued(file, false);
      files_.set_pending(file, 0);
      if (!is_gone) files_.schedule(index, clock_.steady() + retry);
      ready_.pop_front();
      continue;
    }
    file.read_at = clock_.steady();
    ReadJob job = make_job(index);
    const bool is_taken = job.is_reread ? jobs_.push_at_once_for_later(std::move(job))
                                        : jobs_.push_at_once(std::move(job));
    ready_.pop_front();
    if (!is_taken) return;
    ++with_readers_;
  }
}

void ReadDispatch::take_back(FileIndex index) {
  --with_readers_;
  files_.set_queued(files_.at(index), false);
}

ReadJob ReadDispatch::make_job(FileIndex index) {
  FileState& file = files_.at(index);
  ReadJob job;
  job.file = index;
  job.root = root_.directory;
  job.root_id = root_.id;
  job.relative_path = file.relative_path;
  job.layout_path = root_.path.substr(1) + '/' + file.relative_path;
  job.gpu_type = root_.gpu_type;
  job.memory = file.memory;
  job.shrink_is_believed = file.shrink_polls >= kShrinkPolls;
  if (file.memory.run != 0 && file.wants_configuration) job.kind = ReadJob::Kind::configure;
  file.wants_configuration = false;
  file.is_changed_again = job.kind == ReadJob::Kind::configure;  // read it next
  if (job.kind == ReadJob::Kind::read) {
    job.is_rest = file.wants_rest();
    job.checks_content = file.wants_content_check;
    file.wants_content_check = false;
    file.wants_verdict = false;
    job.is_reread = file.wants_reread && file.memory.is_of_earlier_reading;
    file.wants_reread = false;
  }
  if (root_.configs.size() != 0) {
    const auto job_id = parser::parse_run_path(job.layout_path).job_id;
    job.config_path = root_.configs.config_for(file.relative_path, job_id);
  }
  return job;
}

}  // namespace llmb::ingest
