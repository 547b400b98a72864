// SharedConfigurations: what the runs of one configuration have in common, once for all of them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace llmb::parser {

// Not thread-safe.
template <typename Configuration>
class SharedConfigurations {
 public:
  // That of `key`, which tells all that it is made of; where there is none, what `make` returns.
  template <typename Make>
  std::shared_ptr<const Configuration> of(const std::string& key, Make make) {
    auto& known = known_[key];
    if (auto configuration = known.lock()) return configuration;
    auto made = std::make_shared<const Configuration>(make());
    known = made;
    return made;
  }
  // Forgets those that no run has any more.
  void drop_unused() {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  }

 private:
  std::unordered_map<std::string, std::weak_ptr<const Configuration>> known_;
};

}  // namespace llmb::parser
