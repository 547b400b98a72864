#include "storage/database_place.h"

namespace llmb::storage {

bool is_postgresql(std::string_view place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://");
}

bool admits_several_writers(std::string_view place) {
  return is_postgresql(place);
}

std::string shown_place(const std::string& place) {
  if (!is_postgresql(place)) return place;
  std::string shown = place.substr(0, place.find('?'));
  const std::size_t host = shown.find("://") + 3;
  const std::size_t user_end = shown.find('@', host);
  if (user_end == std::string::npos) return shown;
  const std::size_t password = shown.find(':', host);
  return password < user_end ? shown.erase(password, user_end - password) : shown;
}

}  // namespace llmb::storage
