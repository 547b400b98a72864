#include "parser/catalog/json_document.h"

#include <nlohmann/json.hpp>

#include <yaml-cpp/yaml.h>

#include <set>

namespace llmb::parser {
namespace {

using Json = nlohmann::json;

// Follows a parse to know, at any key, where it is and which keys its object has had.
class KeyWatch {
 public:
  bool see(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      open(event == Event::object_start);
    } else if (event == Event::object_end || event == Event::array_end) {
      levels_.pop_back();
    } else if (event == Event::key) {
      see_key(parsed.get<std::string>());
    } else {
      step_into_item();
    }
    return true;
  }

 private:
  struct Level {
    bool is_object = false;
    std::set<std::string> keys;
    std::string step;  // the key, or the index of the item
    std::size_t items = 0;
  };

  void step_into_item() {
    if (levels_.empty() || levels_.back().is_object) return;
    levels_.back().step = std::to_string(levels_.back().items++);
  }

  void open(bool is_object) {
    step_into_item();
    levels_.push_back({is_object, {}, {}, 0});
  }

  void see_key(const std::string& key) {
    Level& level = levels_.back();
    level.step = key;
    if (level.keys.insert(key).second) return;
    JsonPath path;
    for (const Level& outer : levels_) path.push_back(outer.step);
    throw CatalogFault{path, "the key '" + key + "' comes twice"};
  }

  std::vector<Level> levels_;
};

// The last entry of that key: where a key is repeated, the repetition is meant.
YAML::Mark step_into(YAML::Node& node, const std::string& step) {
  YAML::Mark mark = YAML::Mark::null_mark();
  if (node.IsSequence()) {
    const YAML::Node item = node[static_cast<std::size_t>(std::stoul(step))];
    node.reset(item);
    return node.Mark();
  }
  YAML::Node value;
  for (const auto& entry : node) {
    if (entry.first.Scalar() != step) continue;
    mark = entry.first.Mark();
    value.reset(entry.second);
  }
  node.reset(value);
  return mark;
}

}  // namespace

Json parse_strict_json(const std::string& text) {
  KeyWatch watch;
  return Json::parse(
      text, [&](int, Json::parse_event_t event, Json& parsed) { return watch.see(event, parsed); });
}

// JSON is YAML, and yaml-cpp remembers where each node began.
int line_of(const std::string& text, const JsonPath& path) {
  try {
    YAML::Node node = YAML::Load(text);
    YAML::Mark mark = node.Mark();
    for (const std::string& step : path) {
      if (!node.IsSequence() && !node.IsMap()) break;
      const YAML::Mark inner = step_into(node, step);
      if (inner.is_null()) break;
      mark = inner;
    }
    return mark.line + 1;
  } catch (const YAML::Exception&) {
    return 0;
  }
}

}  // namespace llmb::parser
