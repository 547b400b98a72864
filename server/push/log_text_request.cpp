#include "server/push/log_text_request.h"

#include "server/http/compression.h"
#include "storage/packed_values.h"

namespace llmb::push {
namespace {

using storage::kLogBlockBytes;
using storage::LogBlock;
using storage::LogBlockTelling;

constexpr std::string_view kTextMagic = "llmb-text 1 ";

LogBlockTelling unpack_block(storage::PackReader& reader) {
  LogBlockTelling told;
  reader.read("root_path", told.root_path);
  reader.read("relative_path", told.relative_path);
  reader.read("generation", told.generation);
  reader.read("first_byte", told.block.first_byte);
  reader.read("byte_count", told.block.byte_count);
  reader.read("packed", told.block.packed);
  if (!unpacked_block(told.block)) storage::refuse_field("packed", "a block of the log's text");
  return told;
}

}  // namespace

LogBlock packed_block(std::uint64_t first_byte, std::string_view text) {
  return {first_byte, text.size(), http::compress(text, http::Encoding::zstd, http::Effort::kept)};
}

std::optional<std::string> unpacked_block(const LogBlock& block) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 62U;
  const bool has_place = block.first_byte % kLogBlockBytes == 0 && block.first_byte < kLast &&
                         block.byte_count > 0 && block.byte_count <= kLogBlockBytes;
  if (!has_place) return std::nullopt;
  auto text = http::decompress_zstd(block.packed, kLogBlockBytes);
  if (!text || text->size() != block.byte_count) return std::nullopt;
  return *std::move(text);
}

std::string packed_text_request(const PushHead& head, const std::vector<LogBlockTelling>& blocks) {
  storage::PackWriter writer;
  writer.raw(kTextMagic);
  pack_head(writer, head);
  writer.count(blocks.size());
  for (const LogBlockTelling& told : blocks) {
    writer.write(told.root_path);
    writer.write(told.relative_path);
    writer.write(told.generation);
    writer.write(told.block.first_byte);
    writer.write(told.block.byte_count);
    writer.write(told.block.packed);
  }
  return writer.take();
}

LogTextRequest unpack_text_request(std::string_view body) {
  storage::PackReader reader(body, body.size());
  if (reader.left() < kTextMagic.size() || reader.raw(kTextMagic.size(), "format") != kTextMagic) {
    throw ForeignForm();
  }
  LogTextRequest request;
  request.head = unpack_head(reader);
  request.blocks = unpack_entries(reader, "blocks", kTextBlocksMax, unpack_block);
  return request;
}

}  // namespace llmb::push
