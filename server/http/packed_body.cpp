#include "server/http/packed_body.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace llmb::http {
namespace {

// A body that is held may be held for long, and zstd is quick also where it tries harder.
Effort effort_for(Encoding encoding) {
  return encoding == Encoding::gzip ? Effort::once : Effort::kept;
}

}  // namespace

std::string_view PackedBody::block(std::size_t index, std::string& unpacked) const {
  const std::string& block = blocks_.at(index);
  if (encoding_ != Encoding::identity) return block;
  auto text = decompress_zstd(block, kBlockBytes);
  if (!text) throw std::runtime_error("a block of a response cannot be unpacked");
  unpacked = std::move(*text);
  return unpacked;
}

BodyPacker::BodyPacker(Encoding encoding) : encoding_(encoding) {}

void BodyPacker::append(std::string_view text) {
  while (!text.empty()) {
    const std::size_t most = packed_ ? PackedBody::kBlockBytes : kPackedFromBytes;
    const std::string_view part = text.substr(0, most - text_.size());
    text_ += part;
    text.remove_prefix(part.size());
    if (text_.size() < most) return;
    if (!packed_) {
      packed_ = std::make_shared<PackedBody>();
      packed_->encoding_ = encoding_;
      if (encoding_ != Encoding::identity) {
        stream_ = std::make_unique<CompressionStream>(encoding_, effort_for(encoding_));
      }
    }
    for (std::size_t at = 0; at < text_.size(); at += PackedBody::kBlockBytes) {
      pack(std::string_view(text_).substr(at, PackedBody::kBlockBytes), false);
    }
    text_.clear();
  }
}

void BodyPacker::pack(std::string_view text, bool is_last) {
  std::string block = stream_ ? stream_->add(text, is_last)
                      : text.empty()
                          ? std::string()
                          : compress(text, Encoding::zstd, effort_for(Encoding::identity));
  if (block.empty()) return;
  block.shrink_to_fit();
  packed_->size_ += stream_ ? block.size() : text.size();
  packed_->held_bytes_ += block.size();
  packed_->blocks_.push_back(std::move(block));
}

BodyPacker::Made BodyPacker::finish() && {
  if (!packed_) return {std::make_shared<const std::string>(std::move(text_)), nullptr};
  pack(text_, true);
  return {nullptr, std::move(packed_)};
}

BodyBlocks::BodyBlocks(const std::string* whole, const PackedBody* packed) : packed_(packed) {
  if (whole != nullptr) rest_ = *whole;
}

std::string_view BodyBlocks::next() {
  if (packed_ != nullptr) {
    if (next_index_ == packed_->block_count()) return {};
    return packed_->block(next_index_++, unpacked_);
  }
  const std::string_view block = rest_.substr(0, kWholeBlockBytes);
  rest_.remove_prefix(block.size());
  return block;
}

}  // namespace llmb::http
