#include "server/ingest/reread_refusal.h"

#include <fmt/format.h>

namespace llmb::ingest {

std::string whole_read_max_text() {
  return fmt::format("{} MiB", kWholeReadBytesMax >> 20U);
}

std::string refusal_words(RereadRefusal refusal) {
  switch (refusal) {
    case RereadRefusal::too_long:
      return "whose text is longer than " + whole_read_max_text();
    case RereadRefusal::of_another_text:
      return "whose compressed form is of another text";
    case RereadRefusal::unreadable:
      return "that cannot be read";
    case RereadRefusal::none:
      break;
  }
  return "that may still grow or were not come to";
}

}  // namespace llmb::ingest
