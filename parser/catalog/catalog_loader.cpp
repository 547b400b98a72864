#include "parser/catalog/catalog_loader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>

#include "parser/catalog/arithmetic.h"
#include "parser/catalog/catalog_files.h"
#include "parser/catalog/catalog_sections.h"
#include "parser/catalog/json_document.h"
#include "parser/catalog/proxy_size.h"
#include "parser/foundation/content_hash.h"

namespace llmb::parser {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::string_view kReferencesFile = "references.json";
constexpr std::string_view kLaterRecipesFile = "later_recipes.json";

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ' ';
    text += part;
  }
  return text;
}

// What makes two entries the same one.
std::string identity(const Document& entry) {
  return entry.id;
}
std::string identity(const ReleaseWindow& entry) {
  return join({std::string(dialect_name(entry.dialect)), "from", entry.release});
}
std::string identity(const GpuType& entry) {
  return entry.gpu_type;
}
std::string identity(const Model& entry) {
  return entry.shape.family + " " + entry.shape.size;
}
std::string identity(const Workload& entry) {
  return entry.workload;
}
std::string identity(const Recipe& entry) {
  return join({entry.document, entry.workload, entry.model_size, join(entry.dtypes), entry.gpu_type,
               std::to_string(entry.gpu_count_min), "-", std::to_string(entry.gpu_count_max),
               "GPUs, GBS", to_string(entry.global_batch_size)});
}
std::string identity(const Reference& entry) {
  return join({entry.document + entry.source, entry.workload, entry.model_size, entry.dtype,
               entry.gpu_type, std::to_string(entry.gpu_count), "GPUs, line",
               std::to_string(entry.line), "column", std::to_string(entry.column)});
}
std::string identity(const WorkedExample& entry) {
  return join({entry.document, "line", std::to_string(entry.line), entry.quantity, entry.printed});
}

std::string identity(const ReleaseFlops& entry) {
  return join({entry.workload, entry.model_size, "from", entry.release});
}

std::string identity(const SampleOutput& entry) {
  return join({entry.document, "line", std::to_string(entry.line), entry.text});
}

std::string identity(const PublishedCommand& entry) {
  return join({entry.document, "line", std::to_string(entry.line), entry.text});
}

template <typename Entry>
void read_section(const Json& root, const std::string& name, std::vector<Entry>& list,
                  Entry (*read)(const Json&, const JsonPath&)) {
  const auto found = root.find(name);
  if (found == root.end()) return;
  if (!found->is_array()) throw CatalogFault{{name}, "'" + name + "' should be a list"};
  std::unordered_map<std::string, std::size_t> known;  // place in `list`, by identity
  for (std::size_t i = 0; i < list.size(); ++i) known.emplace(identity(list[i]), i);
  const std::size_t known_before = list.size();
  std::set<std::size_t> replaced;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const JsonPath path = {name, std::to_string(i)};
    Entry entry = read((*found)[i], path);
    std::string key = identity(entry);
    const auto same = known.find(key);
    const bool is_again = same != known.end() &&
                          (same->second >= known_before || !replaced.insert(same->second).second);
    if (is_again) {
      std::string message = "there is an earlier entry for ";
      message.append(key).append(" in ").append(name);
      throw CatalogFault{path, std::move(message)};
    }
    if (same != known.end()) {
      list[same->second] = std::move(entry);
    } else {
      known.emplace(std::move(key), list.size());
      list.push_back(std::move(entry));
    }
  }
}

void read_file(const Json& root, Catalog& catalog) {
  const JsonRecord record(root, {},
                          {"schema_version", "documents", "release_windows", "gpus", "models",
                           "workloads", "recipes", "later_recipes", "references", "release_flops",
                           "worked_examples", "sample_outputs", "commands"});
  record.integer("schema_version", kSchemaVersion, kSchemaVersion);
  read_section(root, "documents", catalog.documents, read_document);
  read_section(root, "release_windows", catalog.release_windows, read_release_window);
  read_section(root, "gpus", catalog.gpus, read_gpu);
  read_section(root, "models", catalog.models, read_model);
  read_section(root, "workloads", catalog.workloads, read_workload);
  read_section(root, "recipes", catalog.recipes, read_recipe);
  read_section(root, "later_recipes", catalog.later_recipes, read_recipe);
  read_section(root, "references", catalog.references, read_reference);
  read_section(root, "release_flops", catalog.release_flops, read_release_flops);
  read_section(root, "sample_outputs", catalog.sample_outputs, read_sample_output);
  read_section(root, "worked_examples", catalog.worked_examples, read_worked_example);
  read_section(root, "commands", catalog.commands, read_command);
}

// What one section says of another. `root` is the newest file: only its entries can be at fault.
class CrossChecks {
 public:
  CrossChecks(const Json& root, const Catalog& catalog) : root_(root), catalog_(catalog) {}

  void run() const {
    each("documents", [&](const Json& entry, const JsonPath& path) { need_workload(entry, path); });
    each("gpus", [&](const Json& entry, const JsonPath& path) {
      const Json& peaks = entry.at("peaks");
      for (std::size_t i = 0; i < peaks.size(); ++i) {
        need_document(peaks[i], path / "peaks" / std::to_string(i));
      }
    });
    each("workloads",
         [&](const Json& entry, const JsonPath& path) { need_unique_names(entry, path); });
    for (const char* section : {"recipes", "later_recipes"}) {
      each(section, [&](const Json& entry, const JsonPath& path) {
        need_workload(entry, path);
        need_document(entry, path);
        need_gpu(entry, path);
        need_model(entry, path);
      });
    }
    each("references", [&](const Json& entry, const JsonPath& path) {
      need_workload(entry, path);
      if (entry.contains("document")) need_document(entry, path);
      need_gpu(entry, path);
    });
    each("release_flops",
         [&](const Json& entry, const JsonPath& path) { need_workload(entry, path); });
    each("sample_outputs", [&](const Json& entry, const JsonPath& path) {
      need_document(entry, path);
      if (entry.contains("gpu_count")) need_row(entry, path);
    });
    each("worked_examples", [&](const Json& entry, const JsonPath& path) {
      need_document(entry, path);
      if (entry.contains("gpu_type")) need_gpu(entry, path);
      if (!entry.contains("expression")) return;
      const auto value = evaluate(entry.at("expression").get<std::string>());
      if (!value) throw CatalogFault{path / "expression", value.error().message};
    });
    each("commands", [&](const Json& entry, const JsonPath& path) {
      need_document(entry, path);
      need_workload(entry, path);
      if (entry.contains("gpu_type")) need_gpu(entry, path);
    });
    // Last: of the file's own rows it is their place that is wrong.
    each("workloads",
         [&](const Json& entry, const JsonPath& path) { need_models_of_rows(entry, path); });
  }

 private:
  void each(const std::string& section,
            const std::function<void(const Json&, const JsonPath&)>& check) const {
    const auto found = root_.find(section);
    if (found == root_.end()) return;
    for (std::size_t i = 0; i < found->size(); ++i) {
      check((*found)[i], {section, std::to_string(i)});
    }
  }

  template <typename List, typename Name>
  static void need(bool is_there, const Json& entry, const JsonPath& path, const char* key,
                   const List& known, Name name) {
    if (is_there) return;
    std::string names;
    for (const auto& candidate : known) names += (names.empty() ? "" : ", ") + name(candidate);
    throw CatalogFault{path / key, "'" + std::string(key) + "' is '" +
                                       entry.at(key).get<std::string>() +
                                       "', which the catalog lacks; it has " + names};
  }

  void need_workload(const Json& entry, const JsonPath& path) const {
    const auto name = entry.at("workload").get<std::string>();
    const Workload* const found = catalog_.workload(name);
    need(found != nullptr && found->workload == name, entry, path, "workload", catalog_.workloads,
         [](const Workload& workload) { return workload.workload; });
  }

  void need_document(const Json& entry, const JsonPath& path) const {
    need(catalog_.document(entry.at("document").get<std::string>()) != nullptr, entry, path,
         "document", catalog_.documents, [](const Document& document) { return document.id; });
  }

  void need_gpu(const Json& entry, const JsonPath& path) const {
    need(catalog_.gpu(entry.at("gpu_type").get<std::string>()) != nullptr, entry, path, "gpu_type",
         catalog_.gpus, [](const GpuType& gpu) { return gpu.gpu_type; });
  }

  void need_model(const Json& entry, const JsonPath& path) const {
    const std::string& family = catalog_.workload(entry.at("workload").get<std::string>())->family;
    need(catalog_.model(family, entry.at("model_size").get<std::string>()) != nullptr, entry, path,
         "model_size", catalog_.models,
         [](const Model& model) { return model.shape.family + " " + model.shape.size; });
  }

  // A sample output is of a configuration that its document has: else there is nothing to hold it
  // against.
  void need_row(const Json& entry, const JsonPath& path) const {
    need_gpu(entry, path);
    const auto is_it = [&](const SampleOutput& sample) {
      return sample.document == entry.at("document") && sample.line == entry.at("line") &&
             sample.text == entry.at("text");
    };
    const auto sample =
        std::find_if(catalog_.sample_outputs.begin(), catalog_.sample_outputs.end(), is_it);
    if (catalog_.recipe_of(*sample) != nullptr) return;
    throw CatalogFault{
        path / "gpu_count",
        fmt::format("'{}' has no row of {} {} on {} {}, at which DP and GBS are whole numbers: "
                    "without one, leave gpu_count out",
                    sample->document, sample->model_size, sample->dtype, *sample->gpu_count,
                    sample->gpu_type)};
  }

  // A name that two workloads have would match whichever comes first.
  void need_unique_names(const Json& entry, const JsonPath& path) const {
    const Workload& workload = own_workload(entry);
    need_unique_name(workload.workload, workload, path / "workload");
    for (const std::string& alias : workload.aliases) {
      need_unique_name(alias, workload, path / "aliases");
    }
  }

  void need_unique_name(const std::string& name, const Workload& workload,
                        const JsonPath& path) const {
    for (const Workload& other : catalog_.workloads) {
      const bool is_taken =
          &other != &workload && (other.workload == name ||
                                  std::count(other.aliases.begin(), other.aliases.end(), name) > 0);
      if (is_taken) {
        throw CatalogFault{path, "'" + name + "' is already a name of " + other.workload};
      }
    }
  }

  // A workload that replaces another has the rows of that one, too.
  void need_models_of_rows(const Json& entry, const JsonPath& path) const {
    const Workload& workload = own_workload(entry);
    for (const std::vector<Recipe>* const list : {&catalog_.recipes, &catalog_.later_recipes}) {
      for (const Recipe& recipe : *list) {
        if (recipe.workload != workload.workload) continue;
        if (catalog_.model(workload.family, recipe.model_size) != nullptr) continue;
        throw CatalogFault{
            path / "family",
            fmt::format("'family' is '{}', and models has no {} {}, which {} line {} is a row of: "
                        "add it to models, or give the workload another name",
                        workload.family, workload.family, recipe.model_size, recipe.document,
                        recipe.line)};
      }
    }
  }

  // By its name alone: as an alias it may be another one's.
  const Workload& own_workload(const Json& entry) const {
    const auto name = entry.at("workload").get<std::string>();
    return *std::find_if(catalog_.workloads.begin(), catalog_.workloads.end(),
                         [&](const Workload& one) { return one.workload == name; });
  }

  const Json& root_;
  const Catalog& catalog_;
};

void mark_proxies(Catalog& catalog) {
  for (std::vector<Recipe>* const list : {&catalog.recipes, &catalog.later_recipes}) {
    for (Recipe& recipe : *list) {
      const Workload* const workload = catalog.workload(recipe.workload);
      const Model* const model = catalog.model(workload->family, recipe.model_size);
      recipe.is_proxy = recipe.layer_count < model->shape.layer_count;
    }
  }
}

// A size without a model is told by its name, as published: "405b-proxy".
bool is_of_proxy(const Catalog& catalog, const Reference& reference) {
  if (const Recipe* const recipe = catalog.recipe_of(reference)) return recipe->is_proxy;
  const Workload* const workload = catalog.workload(reference.workload);
  const Model* const model = catalog.model(workload->family, reference.model_size);
  if (model == nullptr) return is_proxy_size(reference.model_size);
  return reference.layer_count && *reference.layer_count < model->shape.layer_count;
}

void complete_references(Catalog& catalog) {
  for (Reference& reference : catalog.references) {
    if (reference.release.empty()) {
      reference.release = catalog.document(reference.document)->release;
    }
    reference.has_recipe = catalog.recipe_of(reference) != nullptr;
    reference.is_proxy = is_of_proxy(catalog, reference);
  }
}

std::string place(const CatalogFile& file, int line) {
  return std::string(file.name) + (line > 0 ? fmt::format(":{}", line) : "") + ": ";
}

Result<void> add_file(const CatalogFile& file, Catalog& catalog) {
  const std::string text(file.text);
  catalog.content_hash = fnv1a(file.text, fnv1a(file.name, catalog.content_hash));
  try {
    const Json root = parse_strict_json(text);
    read_file(root, catalog);
    CrossChecks(root, catalog).run();
  } catch (const CatalogFault& fault) {
    return fail(place(file, line_of(text, fault.path)) + fault.message);
  } catch (const Json::parse_error& error) {
    const auto line =
        1 +
        std::count(text.begin(),
                   text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())),
                   '\n');
    return fail(place(file, static_cast<int>(line)) + "this is no JSON: " + error.what());
  }
  mark_proxies(catalog);
  complete_references(catalog);
  return {};
}

Catalog load_embedded(std::initializer_list<std::string_view> left_out) {
  std::vector<CatalogFile> files;
  for (const EmbeddedFile& file : catalog_files()) {
    if (std::count(left_out.begin(), left_out.end(), file.name) == 0) {
      files.push_back({file.name, file.bytes});
    }
  }
  auto loaded = load_catalog(files);
  if (!loaded) throw std::logic_error("embedded catalog: " + loaded.error().message);
  return std::move(*loaded);
}

}  // namespace

Result<Catalog> load_catalog(std::span<const CatalogFile> files) {
  Catalog catalog;
  for (const CatalogFile& file : files) {
    const auto added = add_file(file, catalog);
    if (!added) return tl::unexpected(added.error());
  }
  return catalog;
}

Result<Catalog> load_catalog_over_embedded(const CatalogFile& file) {
  Catalog catalog = embedded_catalog();
  const auto added = add_file(file, catalog);
  if (!added) return tl::unexpected(added.error());
  return catalog;
}

// Never destroyed: a thread that a hung mount holds may still read it while the process ends.
const Catalog& embedded_catalog() {
  static const Catalog& kept = *new Catalog(load_embedded({}));
  return kept;
}

const Catalog& embedded_recipes(RecipeExtent extent) {
  static const Catalog documents = load_embedded({kReferencesFile, kLaterRecipesFile});
  if (extent == RecipeExtent::documents) return documents;
  static const Catalog all = load_embedded({kReferencesFile});
  return all;
}

}  // namespace llmb::parser
