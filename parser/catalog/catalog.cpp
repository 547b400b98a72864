#include "parser/catalog/catalog.h"

#include <algorithm>

#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

template <typename List, typename Predicate>
auto find_in(const List& list, Predicate predicate) -> decltype(list.data()) {
  const auto found = std::find_if(list.begin(), list.end(), predicate);
  return found == list.end() ? nullptr : &*found;
}

// Of the document that the entry stands in. An empty workload may be any.
template <typename Entry>
const Recipe* row_of(const std::vector<Recipe>& recipes, const Entry& entry,
                     std::string_view workload, std::int64_t gpu_count) {
  return find_in(recipes, [&](const Recipe& row) {
    return (workload.empty() || row.workload == workload) && row.document == entry.document &&
           row.model_size == entry.model_size && row.gpu_type == entry.gpu_type &&
           row.is_whole_at(gpu_count) &&
           std::find(row.dtypes.begin(), row.dtypes.end(), coarse_dtype(entry.dtype)) !=
               row.dtypes.end();
  });
}

// Releases are written YY.MM or YY.MM.PATCH, so that the order of text is that of time.
std::string_view month(std::string_view release) {
  return release.substr(0, 5);
}

}  // namespace

bool Document::speaks_for(std::string_view run_release) const {
  if (run_release.empty()) return source.empty();
  const auto is_same = [&](const std::string& own) { return month(own) == month(run_release); };
  return is_same(release) || std::any_of(further_releases.begin(), further_releases.end(), is_same);
}

bool Document::has_dialect(Dialect dialect) const {
  return !is_read(dialect) || std::count(dialects.begin(), dialects.end(), dialect) > 0;
}

const ReleaseWindow* Catalog::release_window(Dialect dialect, std::string_view release) const {
  if (!is_release(release)) return nullptr;  // "main" is no later than another one
  const ReleaseWindow* best = nullptr;
  for (const ReleaseWindow& rule : release_windows) {
    if (rule.dialect != dialect || rule.release > release) continue;
    if (best == nullptr || rule.release > best->release) best = &rule;
  }
  return best;
}

const ReleaseFlops* Catalog::flops_of_release(std::string_view of_workload,
                                              std::string_view model_size,
                                              std::string_view release) const {
  return find_in(release_flops, [&](const ReleaseFlops& rule) {
    return rule.workload == of_workload &&
           (rule.model_size.empty() || rule.model_size == model_size) && rule.release <= release &&
           release <= rule.last_release;
  });
}

const Document* Catalog::document(std::string_view id) const {
  return find_in(documents, [&](const Document& entry) { return entry.id == id; });
}

const GpuType* Catalog::gpu(std::string_view gpu_type) const {
  return find_in(gpus, [&](const GpuType& entry) { return entry.gpu_type == gpu_type; });
}

const Model* Catalog::model(std::string_view family, std::string_view size) const {
  return find_in(models, [&](const Model& entry) {
    return entry.shape.family == family && entry.shape.size == size;
  });
}

const Workload* Catalog::workload(std::string_view name) const {
  return find_in(workloads, [&](const Workload& entry) {
    return entry.workload == name ||
           std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end();
  });
}

const LaunchDefaults& Catalog::launch_defaults(std::string_view name) const {
  static const LaunchDefaults plain;
  const LaunchDefaults* newest = &plain;
  for (const Document& entry : documents) {  // by age
    if (entry.workload == name && entry.launch) newest = &*entry.launch;
  }
  return *newest;
}

const Recipe* Catalog::recipe_of(const Reference& reference) const {
  if (reference.document.empty()) return nullptr;
  return row_of(recipes, reference, reference.workload, reference.gpu_count);
}

const Recipe* Catalog::recipe_of(const SampleOutput& sample) const {
  return sample.gpu_count ? row_of(recipes, sample, {}, *sample.gpu_count) : nullptr;
}

const GpuPeak* Catalog::peak(std::string_view gpu_type, std::string_view dtype,
                             std::string_view document_id) const {
  const GpuType* const entry = gpu(gpu_type);
  if (entry == nullptr) return nullptr;
  const GpuPeak* best = nullptr;
  const auto release = [&](const GpuPeak& peak) {
    const Document* const from = document(peak.document);
    return from == nullptr ? std::string() : from->release;
  };
  for (const GpuPeak& peak : entry->peaks) {
    if (peak.dtype != dtype) continue;
    if (peak.document == document_id) return &peak;
    if (best == nullptr || release(peak) > release(*best)) best = &peak;
  }
  return best;
}

}  // namespace llmb::parser
